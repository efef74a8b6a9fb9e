/* How job.blame stores waiting between nodes: PROFILE_NODE_BALANCE nodes (cct/profile_format.h). */
#ifndef BLAME_COMMAND_PROFILE_BALANCE_RECORD_H
#define BLAME_COMMAND_PROFILE_BALANCE_RECORD_H

#include "cct/profile_metrics.h"

/* Keys of these nodes. See docs/accounting.md, "Between nodes". */
enum profile_balance_key {
    PROFILE_BALANCE_CALL = 0,    /* below an MPI node: waiting in that call */
    PROFILE_BALANCE_CONTEXT = 1, /* charged to this context of late ranks */
    /* below the root: charged to ranks of which no context takes longer than the mean */
    PROFILE_BALANCE_NO_CONTEXT = 2,
    PROFILE_BALANCE_MORE_RANKS = 3, /* below the root: charged to ranks whose contexts were not compared */
    PROFILE_BALANCE_KEYS = 4
};

/* Stored in place of a metric at these nodes; times in ns. */
struct profile_balance {
    double charged; /* waiting of other ranks */
    double most;    /* charge of the rank with the largest charge */
    /* for a call: waiting common to all ranks, as long as the shortest wait; charged to nobody */
    double common;
    /* for a context: time in which something ran in it, in most_rank and on average over the ranks */
    double time, mean;
    uint32_t most_rank; /* the rank that `most` and `time` belong to */
    uint32_t reserved[5];
};

_Static_assert(sizeof(struct profile_balance) == sizeof(struct profile_metric), "it stands in a metric's place");

#endif
