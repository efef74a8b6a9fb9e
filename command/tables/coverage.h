/* The part of the threads' time that was measured, and what prevented the rest. */
#ifndef BLAME_COMMAND_TABLES_COVERAGE_H
#define BLAME_COMMAND_TABLES_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"

#define COVERAGE_LOSSES 4

struct coverage_loss {
    const char *what; /* what was lost, such as "threads without a timer" */
    /* the reason, such as "the limit on pending signals is 0 (RLIMIT_SIGPENDING, ulimit -i)"; "": unknown */
    char cause[512];
    const char *advice;
    double seconds; /* lost thread-seconds */
};

struct coverage {
    double whole_s;                             /* s that all threads lived after the tool's start */
    double lost_s;                              /* part of whole_s that was not measured */
    struct coverage_loss loss[COVERAGE_LOSSES]; /* sorted by lost time, most first */
    size_t count;
};

/* Computes the coverage. Pauses that the program asks for do not count as lost, nor does the tool's own time. */
void coverage_of(const struct profile *profile, struct coverage *coverage);

/* Returns the measured part of the threads' time in per cent. */
double coverage_percent(const struct coverage *coverage);

/* Returns whether so much is missing that the rest shows nothing reliable. */
bool coverage_is_poor(const struct coverage *coverage);

#endif
