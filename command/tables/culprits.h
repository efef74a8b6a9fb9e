/* Who was blamed when: rows by the idleness and the lock wait that their own code is answerable for, in each bin of the timeline. */
#ifndef BLAME_COMMAND_TABLES_CULPRITS_H
#define BLAME_COMMAND_TABLES_CULPRITS_H

#include "command/rows/row.h"

/* In seconds. */
struct culprit_bin {
    uint32_t bin; /* of the timeline's contexts */
    double idleness, lock_wait;
};

struct culprit {
    uint32_t row;               /* a function's, or what else is no statement */
    double idleness, lock_wait; /* exclusive, in all bins */
    size_t first, count;        /* of its bins, in time's order */
};

struct culprits {
    struct culprit *culprit; /* the most blamed first */
    size_t count;
    struct culprit_bin *bin;
};

/* Idleness is that of the rows' environment. `joined`: one row stands for those of all numbered executions, and the program's own for what it calls of others' code. Free the members with culprits_free(). */
struct culprits culprits_gather(const struct profile *profile, const struct rows *rows, bool joined);
void culprits_free(struct culprits *culprits);

static inline double culprit_blame(const struct culprit *culprit)
{
    return culprit->idleness + culprit->lock_wait;
}

#endif
