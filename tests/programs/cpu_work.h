/* Work that is known by its CPU time, for programs whose threads each work in a function of its own. */
#ifndef BLAME_TESTS_PROGRAMS_CPU_WORK_H
#define BLAME_TESTS_PROGRAMS_CPU_WORK_H

#include <time.h>

static volatile double sink;

/* Returns the CPU time of the calling thread in seconds. */
static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Works in the function that calls it. */
static inline __attribute__((always_inline)) void compute_ms(double ms)
{
    double end_s = cpu_s() + ms / 1000;
    while (cpu_s() < end_s)
        for (int i = 0; i < 1000; i++)
            sink += i;
}

#endif
