/* How much of the threads' time was measured, and what kept the tool from the rest. */
#ifndef BLAME_COMMAND_TABLES_COVERAGE_H
#define BLAME_COMMAND_TABLES_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "command/profile/profile.h"

#define COVERAGE_LOSSES 4

struct coverage_loss {
    const char *what; /* "threads without a timer" */
    char cause[512];  /* "the limit on pending signals is 0 (RLIMIT_SIGPENDING, ulimit -i)"; empty: not known */
    const char *advice;
    double seconds; /* of threads' time */
};

struct coverage {
    double whole_s;                             /* time of all threads, from the tool's start on */
    double lost_s;                              /* of it */
    struct coverage_loss loss[COVERAGE_LOSSES]; /* the longest first */
    size_t count;
};

/* What a program's wish (a pause), or the tool's own doing, cost is not part of it. */
void coverage_of(const struct profile *profile, struct coverage *coverage);

/* Percent of the threads' time that was measured. */
double coverage_percent(const struct coverage *coverage);

/* So much is missing that nothing follows from the rest. */
bool coverage_is_poor(const struct coverage *coverage);

#endif
