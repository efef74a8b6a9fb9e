/* Waiting by wait place and by the context that is blamed: idleness, waiting for locks, and other ranks'
 * waiting in MPI. */
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
    WAIT_BETWEEN_REGIONS, /* threads in the pool or not yet created: thread idleness minus shared idleness */
    WAIT_MPI,             /* waiting of other ranks */
    /* idleness without a known wait place: caused by dispatch, or inherited from waiters for a lock */
    WAIT_NOT_KEPT,
    WAIT_KINDS
};

extern const char *const wait_kind_name[WAIT_KINDS]; /* names in waits.csv */

/* Returns the metric of the blamed row that contains this kind of waiting. */
enum metric wait_metric(enum wait_kind kind);

struct wait_place {
    enum wait_kind kind;
    bool in_region;    /* the call is unknown: function, file and line are those of the region's start */
    uint8_t lock_kind; /* only for locks: enum profile_lock_kind */
    uint64_t wait_id;  /* only for locks: the lock's id */
    /* function that contains the call, or the lock's name, which is borrowed from `locks`; "": unknown. Valid
     * as long as the symbols. */
    const char *function;
    const char *file;
    int line;
    const char *call; /* name of the MPI call; "" for other kinds */
    double ns;        /* ns summed over its pairs */
    uint32_t first_pair, pair_count;
};

/* Waiting at one wait place that is blamed on one row's own code. A statement counts as its function. */
struct wait_pair {
    uint32_t place, row;
    double ns;
};

struct wait_table {
    struct wait_place *place; /* sorted by waiting, longest first */
    size_t place_count, place_capacity;
    struct wait_pair *pair; /* sorted by wait place, then by waiting, longest first */
    size_t pair_count, pair_capacity;
};

/* Gathers the waiting. The pairs of a row add up to its exclusive idleness (in a shared environment: shared
 * idleness), lock wait and rank idleness. */
struct wait_table *waits_gather(const struct profile *profile, const struct rows *rows, const struct lock_table *locks,
                                struct symbols *symbols);
void waits_free(struct wait_table *table);

#endif
