/* Work of so many seconds of the wall clock, for programs that have no other need of analytic.h. */
#ifndef BLAME_TESTS_SPIN_H
#define BLAME_TESTS_SPIN_H

#include <stdlib.h>
#include <time.h>

#define NAMED __attribute__((noinline))

/* TEST_SPIN=0.1: a tenth of them, where only what the program says is asked for. */
__attribute__((unused)) static double spin_share(void)
{
    const char *text = getenv("TEST_SPIN");
    return text ? atof(text) : 1;
}

__attribute__((unused)) NAMED static double spin(double seconds)
{
    struct timespec now;
    double sum = 0, end = 0;
    seconds *= spin_share();
    do {
        for (int i = 0; i < 200; i++)
            sum += 1e-9 * i;
        clock_gettime(CLOCK_MONOTONIC, &now);
        end = end ? end : (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
    } while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < end);
    return sum;
}

#endif
