/* A clock of the examples' own, to check the times that blame reports. Prints `clocked NAME CALLS SECONDS`,
 * where SECONDS is the wall time between start and end, summed over the calls. */
#ifndef BLAME_EXAMPLES_CLOCKED_H
#define BLAME_EXAMPLES_CLOCKED_H

#include <omp.h>
#include <stdio.h>

struct clocked {
    const char *name;
    long calls;
    double seconds, begin_s;
};

static inline void clocked_begin(struct clocked *clocked)
{
    clocked->begin_s = omp_get_wtime();
}

static inline double clocked_end(struct clocked *clocked)
{
    double seconds = omp_get_wtime() - clocked->begin_s;
    clocked->seconds += seconds;
    clocked->calls++;
    return seconds;
}

static inline void clocked_print(const struct clocked *clocked)
{
    printf("clocked %s %ld %.6f\n", clocked->name, clocked->calls, clocked->seconds);
}

#endif
