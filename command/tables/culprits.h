/* The code that was to blame at each time of the run: for each row, the idleness and lock wait blamed on its
 * own code, by bin of the timeline. */
#ifndef BLAME_COMMAND_TABLES_CULPRITS_H
#define BLAME_COMMAND_TABLES_CULPRITS_H

#include "command/rows/row.h"

/* Blame in one bin, in s. */
struct culprit_bin {
    uint32_t bin; /* number of the bin in the timeline's bins of contexts */
    double idleness, lock_wait;
};

struct culprit {
    uint32_t row;               /* row of the code, never a statement; usually a function */
    double idleness, lock_wait; /* exclusive values in s, summed over all bins */
    /* first index in `bin` and number of the row's bins, which are in order of time */
    size_t first, count;
};

struct culprits {
    struct culprit *culprit; /* culprits sorted by blame, largest first */
    size_t count;
    struct culprit_bin *bin;
};

/* Gathers the blame by row and bin. Idleness is as defined by the environment of the rows, dedicated or
 * shared. joined: numbered executions of a phase are merged, and foreign code is replaced by the program's
 * code that calls it. Free the result with culprits_free(). */
struct culprits culprits_gather(const struct profile *profile, const struct rows *rows, bool joined);
void culprits_free(struct culprits *culprits);

static inline double culprit_blame(const struct culprit *culprit)
{
    return culprit->idleness + culprit->lock_wait;
}

#endif
