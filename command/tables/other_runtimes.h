/* OpenMP runtimes of the process beside the one that was measured: their regions are plain code of the thread that
 * begins them, and their other threads are in no figure. */
#ifndef BLAME_COMMAND_TABLES_OTHER_RUNTIMES_H
#define BLAME_COMMAND_TABLES_OTHER_RUNTIMES_H

#include <stddef.h>

#include "command/profile/profile.h"

struct other_runtime {
    const char *path;
    double seconds; /* sampled in it and in what it called */
};

#define OTHER_RUNTIMES_MOST 4

/* Those that samples met, at most OTHER_RUNTIMES_MOST; returns how many. */
size_t other_runtimes(const struct profile *profile, struct other_runtime *found);

#endif
