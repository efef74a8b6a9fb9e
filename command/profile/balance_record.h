/* Records of job.blame for waiting that ranks on other nodes of the cluster caused: PROFILE_NODE_BALANCE
 * nodes (cct/profile_format.h). */
#ifndef BLAME_COMMAND_PROFILE_BALANCE_RECORD_H
#define BLAME_COMMAND_PROFILE_BALANCE_RECORD_H

#include "cct/profile_metrics.h"

/* Keys of PROFILE_NODE_BALANCE nodes. See docs/accounting.md, "Between nodes". */
enum profile_balance_key {
    PROFILE_BALANCE_CALL = 0,    /* below an MPI node: charges for the waiting in this call */
    PROFILE_BALANCE_CONTEXT = 1, /* below a context: charges for the time of late ranks in this context */
    /* below the root: charges of late ranks that have no context with more time than the mean */
    PROFILE_BALANCE_NO_CONTEXT = 2,
    PROFILE_BALANCE_MORE_RANKS = 3, /* below the root: charges of ranks whose contexts were not compared */
    PROFILE_BALANCE_KEYS = 4
};

/* The record of a PROFILE_NODE_BALANCE node, stored in place of a struct profile_metric. Times in ns. */
struct profile_balance {
    /* waiting of other ranks that is charged to this call, to this context, or to no context */
    double charged;
    double most; /* charge of the rank with the largest charge */
    /* for a call: waiting that all ranks have in common, which is charged to nobody */
    double common;
    /* for a context: its share of the time outside MPI (inverse_busy), on most_rank and on average over the
     * ranks */
    double time, mean;
    uint32_t most_rank; /* rank to which `most` and `time` belong */
    uint32_t reserved[5];
};

_Static_assert(sizeof(struct profile_balance) == sizeof(struct profile_metric),
               "a struct profile_balance is as large as a struct profile_metric");

#endif
