/* fib, modelled on BOTS: computes a Fibonacci number by the recursive definition, with a task for each call.
 * Without a cut-off, the program does little but create tasks and wait for them, which is the worst case for
 * any tool. */
#include "../kernel.h"

static long fib_sequential(int n)
{
    return n < 2 ? n : fib_sequential(n - 1) + fib_sequential(n - 2);
}

/* Returns the n-th Fibonacci number. The first `depth_left` levels of calls create tasks. If `depth_left` is
 * negative, all levels do. */
static long fib(int n, int depth_left)
{
    long first, second;
    if (n < 2)
        return n;
    if (depth_left == 0)
        return fib_sequential(n);
#pragma omp task shared(first) firstprivate(n, depth_left)
    first = fib(n - 1, depth_left - 1);
#pragma omp task shared(second) firstprivate(n, depth_left)
    second = fib(n - 2, depth_left - 1);
#pragma omp taskwait
    return first + second;
}

static long fib_expected(int n)
{
    long number = 0, next = 1;
    for (int i = 0; i < n; i++) {
        long sum = number + next;
        number = next;
        next = sum;
    }
    return number;
}

int main(int argc, char **argv)
{
    long n = 27, cutoff = 0, result = 0;
    const struct kernel_arg args[] = {{"N", &n, 0, 60, "which Fibonacci number", NULL},
                                      {"--cutoff", &cutoff, 0, 60, "depth from which no tasks are made, 0: none", NULL},
                                      {0}};
    kernel_parse_args(argc, argv, "fib", args);

    double begin_s = kernel_clock_s();
#pragma omp parallel
#pragma omp single
    result = fib((int)n, cutoff == 0 ? -1 : (int)cutoff);
    double seconds = kernel_clock_s() - begin_s;

    char size[32];
    return kernel_report("fib", kernel_size_text(size, sizeof size, n, "cutoff", cutoff), seconds,
                         result == fib_expected((int)n));
}
