/* Who waited where because of whom: idleness, lock waiting and other ranks' waiting in MPI by waiting place and blamed context. */
#ifndef BLAME_COMMAND_TABLES_WAITS_H
#define BLAME_COMMAND_TABLES_WAITS_H

#include "command/profile/profile.h"
#include "command/tables/locks.h"
#include "command/rows/metric.h"

struct symbols;

enum wait_kind {
    WAIT_UNKNOWN,
    WAIT_BARRIER,
    WAIT_WORKSHARE,
    WAIT_REGION_END,
    WAIT_TASKWAIT,
    WAIT_TASKGROUP,
    WAIT_REDUCTION,
    WAIT_LOCK,
    WAIT_BETWEEN_REGIONS, /* in the pool, or not yet created: thread idleness beyond shared idleness */
    WAIT_MPI,             /* in other ranks */
    WAIT_NOT_KEPT,        /* idleness inherited by waiters for a lock, and in dispatch: the place is not kept */
    WAIT_KINDS
};

extern const char *const wait_kind_name[WAIT_KINDS]; /* as in waits.csv */

/* What such waiting is of in the blamed row. */
enum metric wait_metric(enum wait_kind kind);

struct wait_place {
    enum wait_kind kind;
    bool in_region;       /* the call is not known: function, file and line are of the region's begin */
    uint8_t lock_kind;    /* of locks: enum profile_lock_kind */
    uint64_t wait_id;     /* and which one */
    const char *function; /* of the call; locks: the lock's name (of `locks`, which must outlive this); ""
                             unknown. Lives as long as the symbols */
    const char *file;
    int line;
    const char *call; /* of MPI's, "" of other kinds */
    double ns;        /* the sum of its pairs */
    uint32_t first_pair, pair_count;
};

/* That at this place somebody waited for so long because of the row's own code. Not of statements: their
 * function's row has it. */
struct wait_pair {
    uint32_t place, row;
    double ns;
};

struct wait_table {
    struct wait_place *place; /* longest first */
    size_t place_count, place_capacity;
    struct wait_pair *pair; /* by place, longest first */
    size_t pair_count, pair_capacity;
};

/* The sum over all pairs of a row is its exclusive idleness (shared idleness in a shared environment) plus
 * its exclusive lock wait, and rank idleness. */
struct wait_table *waits_gather(const struct profile *profile, const struct rows *rows, const struct lock_table *locks,
                                struct symbols *symbols);
void waits_free(struct wait_table *table);

#endif
