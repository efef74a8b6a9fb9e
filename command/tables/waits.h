/* Waiting by wait place and by blamed context: idleness, waiting for locks, and waiting of other ranks in
 * MPI. */
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
    /* waiting of threads that were in the pool or not yet created: thread idleness minus shared idleness */
    WAIT_BETWEEN_REGIONS,
    WAIT_MPI, /* waiting of other ranks in MPI calls */
    /* idleness without a known wait place: caused by the runtime's own time (dispatch), or inherited from
     * threads that waited for a lock */
    WAIT_NOT_KEPT,
    WAIT_KINDS
};

extern const char *const wait_kind_name[WAIT_KINDS]; /* names in waits.csv */

/* Returns the metric that contains this kind of waiting, in the row that is blamed. */
enum metric wait_metric(enum wait_kind kind);

struct wait_place {
    enum wait_kind kind;
    /* whether the call is unknown, so that function, file and line are those of the region's start */
    bool in_region;
    uint8_t lock_kind; /* for a lock: enum profile_lock_kind */
    uint64_t wait_id;  /* for a lock: its id */
    /* name of the function that contains the call, or the lock's name, which is borrowed from `locks`; "":
     * unknown. Valid as long as the symbols. */
    const char *function;
    const char *file;
    int line;
    const char *call; /* name of the MPI call; "" for other kinds */
    double ns;        /* ns, summed over the pairs of this wait place */
    uint32_t first_pair, pair_count;
};

/* Waiting at one wait place that is blamed on the own code of one row. A statement counts as its function. */
struct wait_pair {
    uint32_t place, row;
    double ns;
};

struct wait_table {
    struct wait_place *place; /* wait places sorted by waiting, longest first */
    size_t place_count, place_capacity;
    struct wait_pair *pair; /* pairs sorted by wait place, then by waiting, longest first */
    size_t pair_count, pair_capacity;
};

/* Gathers the waiting by wait place and row. The pairs of a row add up to its exclusive lock wait, rank
 * idleness and idleness (in a shared environment, shared idleness). */
struct wait_table *wait_table_gather(const struct profile *profile, const struct rows *rows,
                                     const struct lock_table *locks, struct symbols *symbols);
void wait_table_free(struct wait_table *table);

#endif
