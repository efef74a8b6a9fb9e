/* Which code was to blame at what time: idleness and lock wait blamed on each row's own code, by bin of the
 * timeline. */
#ifndef BLAME_COMMAND_TABLES_CULPRITS_H
#define BLAME_COMMAND_TABLES_CULPRITS_H

#include "command/rows/row.h"

/* In seconds. */
struct culprit_bin {
    uint32_t bin; /* bin of the timeline's contexts */
    double idleness, lock_wait;
};

struct culprit {
    uint32_t row;               /* a row that is not a statement, usually a function */
    double idleness, lock_wait; /* exclusive, over all bins */
    size_t first, count;        /* range of its bins, in order of time */
};

struct culprits {
    struct culprit *culprit; /* sorted by blame, largest first */
    size_t count;
    struct culprit_bin *bin;
};

/* Gathers the blame by row and bin, with the idleness of each row's environment. joined: merges a row's
 * numbered executions, and counts foreign code as the program's code that calls it. Free the members with
 * culprits_free(). */
struct culprits culprits_gather(const struct profile *profile, const struct rows *rows, bool joined);
void culprits_free(struct culprits *culprits);

static inline double culprit_blame(const struct culprit *culprit)
{
    return culprit->idleness + culprit->lock_wait;
}

#endif
