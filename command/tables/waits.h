/* Who waited where for which code: idleness, lock waiting and other ranks' waiting in MPI, by wait place and
 * blamed context. */
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
    WAIT_BETWEEN_REGIONS, /* in the pool or not yet created: thread idleness beyond shared idleness */
    WAIT_MPI,             /* waiting of other ranks */
    WAIT_NOT_KEPT,        /* idleness with unknown place: in dispatch, or inherited by waiters for a lock */
    WAIT_KINDS
};

extern const char *const wait_kind_name[WAIT_KINDS]; /* as in waits.csv */

/* Returns the blamed row's metric that contains such waiting. */
enum metric wait_metric(enum wait_kind kind);

struct wait_place {
    enum wait_kind kind;
    bool in_region;    /* the call is unknown; function, file and line are those of the region's start */
    uint8_t lock_kind; /* for locks: enum profile_lock_kind */
    uint64_t wait_id;  /* for locks: the lock's id */
    /* the function that contains the call; for locks the lock's name, borrowed from `locks`; "" if unknown.
     * Lives as long as the symbols. */
    const char *function;
    const char *file;
    int line;
    const char *call; /* name of the MPI call; "" for other kinds */
    double ns;        /* sum over its pairs */
    uint32_t first_pair, pair_count;
};

/* Waiting at one place that is blamed on one row's own code. Statements count as their function. */
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

/* Gathers the waiting. A row's pairs add up to its exclusive idleness (shared idleness in a shared
 * environment) plus exclusive lock wait and rank idleness. */
struct wait_table *waits_gather(const struct profile *profile, const struct rows *rows, const struct lock_table *locks,
                                struct symbols *symbols);
void waits_free(struct wait_table *table);

#endif
