/* How much of the threads' time was measured, and what prevented the rest. */
#ifndef BLAME_COMMAND_TABLES_COVERAGE_H
#define BLAME_COMMAND_TABLES_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"

#define COVERAGE_LOSSES 4

struct coverage_loss {
    const char *what; /* "threads without a timer" */
    char cause[512];  /* "the limit on pending signals is 0 (RLIMIT_SIGPENDING, ulimit -i)"; "": unknown */
    const char *advice;
    double seconds; /* thread-seconds lost */
};

struct coverage {
    double whole_s;                             /* lifetime of all threads since the tool's start */
    double lost_s;                              /* of it */
    struct coverage_loss loss[COVERAGE_LOSSES]; /* sorted, largest first */
    size_t count;
};

/* Computes the coverage. Pauses that the program asks for and the tool's own time do not count as lost. */
void coverage_of(const struct profile *profile, struct coverage *coverage);

/* Returns the measured percentage of the threads' time. */
double coverage_percent(const struct coverage *coverage);

/* Returns whether too much is missing to conclude anything from the rest. */
bool coverage_is_poor(const struct coverage *coverage);

#endif
