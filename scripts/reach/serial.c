#include <stdio.h>

static __attribute__((noinline)) long slow(long row)
{
    volatile long sum = 0;
    for (long i = 0; i < 300000; i++)
        sum += i ^ row;
    return sum;
}

int main(void)
{
    long total = 0;
    for (long row = 0; row < 400; row++)
        total += slow(row);
    printf("%ld\n", total);
    return 0;
}
