/* Work of so many seconds of the wall clock, for programs that have no other need of analytic.h. */
#ifndef BLAME_TESTS_SPIN_H
#define BLAME_TESTS_SPIN_H

#include <time.h>

#define NAMED __attribute__((noinline))

__attribute__((unused)) NAMED static double spin(double seconds)
{
    struct timespec now;
    double sum = 0, end = 0;
    do {
        for (int i = 0; i < 200; i++)
            sum += 1e-9 * i;
        clock_gettime(CLOCK_MONOTONIC, &now);
        end = end ? end : (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
    } while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < end);
    return sum;
}

#endif
