/* Records of job.blame for waiting between the nodes of a machine: PROFILE_NODE_BALANCE nodes
 * (cct/profile_format.h). */
#ifndef BLAME_COMMAND_PROFILE_BALANCE_RECORD_H
#define BLAME_COMMAND_PROFILE_BALANCE_RECORD_H

#include "cct/profile_metrics.h"

/* Keys of PROFILE_NODE_BALANCE nodes. See docs/accounting.md, "Between nodes". */
enum profile_balance_key {
    PROFILE_BALANCE_CALL = 0,    /* below an MPI node: waiting in that call */
    PROFILE_BALANCE_CONTEXT = 1, /* below a context: charged to the time of late ranks in this context */
    /* below the root: charged to ranks with no context that takes longer than the mean */
    PROFILE_BALANCE_NO_CONTEXT = 2,
    PROFILE_BALANCE_MORE_RANKS = 3, /* below the root: charged to ranks whose contexts were not compared */
    PROFILE_BALANCE_KEYS = 4
};

/* The record of such a node, stored in place of a struct profile_metric. Times in ns. */
struct profile_balance {
    double charged; /* waiting of other ranks that is charged here */
    double most;    /* charge of the rank that is charged most */
    /* only for a call: the part of the waiting that all ranks have in common, which is charged to nobody */
    double common;
    /* only for a context: time in which something ran in it, on most_rank and on average over the ranks */
    double time, mean;
    uint32_t most_rank; /* rank to which `most` and `time` belong */
    uint32_t reserved[5];
};

_Static_assert(sizeof(struct profile_balance) == sizeof(struct profile_metric), "a struct profile_balance takes the "
                                                                                "place of a struct profile_metric");

#endif
