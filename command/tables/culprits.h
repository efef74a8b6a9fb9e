/* The code that was to blame at each time of the run: idleness and lock wait that are blamed on each row's
 * own code, by bin of the timeline. */
#ifndef BLAME_COMMAND_TABLES_CULPRITS_H
#define BLAME_COMMAND_TABLES_CULPRITS_H

#include "command/rows/row.h"

/* Blame in one bin, in s. */
struct culprit_bin {
    uint32_t bin; /* number of a bin of the timeline's contexts */
    double idleness, lock_wait;
};

struct culprit {
    uint32_t row;               /* row that is not a statement; usually a function */
    double idleness, lock_wait; /* exclusive, over all bins, in s */
    size_t first, count;        /* its bins in `bin`, in order of time */
};

struct culprits {
    struct culprit *culprit; /* sorted by blame, largest first */
    size_t count;
    struct culprit_bin *bin;
};

/* Gathers the blame by row and bin. Idleness is that of the rows' environment, dedicated or shared. joined:
 * numbered executions of a phase are merged, and foreign code counts as the program's code that calls it.
 * Free the result with culprits_free(). */
struct culprits culprits_gather(const struct profile *profile, const struct rows *rows, bool joined);
void culprits_free(struct culprits *culprits);

static inline double culprit_blame(const struct culprit *culprit)
{
    return culprit->idleness + culprit->lock_wait;
}

#endif
