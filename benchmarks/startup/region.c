/* The trivial program of startup.py: one empty parallel region. Prints the clock after it and at the end of
 * main, in nanoseconds of CLOCK_MONOTONIC. */
#include <stdio.h>
#include <time.h>

static long long clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(void)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads += 1;
    long long region_ns = clock_ns();
    printf("threads %d\nregion_ns %lld\n", threads, region_ns);
    printf("main_ns %lld\n", clock_ns());
    fflush(stdout);
    return 0;
}
