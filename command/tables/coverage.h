/* How much of the threads' time was measured, and what prevented the measurement of the rest. */
#ifndef BLAME_COMMAND_TABLES_COVERAGE_H
#define BLAME_COMMAND_TABLES_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"

#define COVERAGE_LOSSES 4

struct coverage_loss {
    const char *what; /* what was lost, such as "threads without a timer" */
    /* why it was lost, such as "the limit on pending signals is 0 (RLIMIT_SIGPENDING, ulimit -i)"; "":
     * unknown */
    char cause[512];
    const char *advice;
    double seconds; /* lost thread-seconds */
};

struct coverage {
    /* time in s for which all threads together lived after the tool's start */
    double whole_s;
    double lost_s;                              /* part of whole_s that was not measured */
    struct coverage_loss loss[COVERAGE_LOSSES]; /* losses sorted by lost time, most first */
    size_t count;
};

/* Computes the coverage. Pauses that the program asks for do not count as lost. Nor does the tool's own time. */
void coverage_of(const struct profile *profile, struct coverage *coverage);

/* Returns the measured part of the threads' time in per cent. */
double coverage_percent(const struct coverage *coverage);

/* Returns whether so little was measured that the values are not reliable. */
bool coverage_is_poor(const struct coverage *coverage);

#endif
