/* Recursive tasks without a cut-off: the threads are always between two tasks, never out of them. A profiler
 * that takes the dispatch for idleness reports most of this as idle. */
#include "analytic.h"

NAMED static long fib(int n)
{
    long x, y;
    if (n < 2)
        return n;
#pragma omp task shared(x)
    x = fib(n - 1);
#pragma omp task shared(y)
    y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

int main(void)
{
    long sum = 0, rounds = 0;
    double end_s = clock_s() + 2.0;
#pragma omp parallel num_threads(2)
#pragma omp single
    while (clock_s() < end_s) {
        sum += fib(25);
        rounds++;
    }
    printf("fib %s\n", sum == 75025 * rounds ? "right" : "wrong");
    printf("bound idle_share 0.02\n");
    return 0;
}
