/* A parallel loop whose first half takes longer, and a result that does not depend on the threads. */
#include <stdio.h>

#define ROWS 400

static __attribute__((noinline)) long slow(long row)
{
    volatile long sum = 0;
    for (long i = 0; i < (row < ROWS / 2 ? 300000 : 30000); i++)
        sum += i ^ row;
    return sum;
}

int main(void)
{
    long total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (long row = 0; row < ROWS; row++)
        total += slow(row);
    printf("%ld\n", total);
    return 0;
}
