/* What job.blame keeps of waiting between nodes: nodes PROFILE_NODE_BALANCE (cct/profile_format.h). */
#ifndef BLAME_COMMAND_PROFILE_BALANCE_RECORD_H
#define BLAME_COMMAND_PROFILE_BALANCE_RECORD_H

#include "cct/profile_metrics.h"

/* Keys. docs/accounting.md, "Between nodes". */
enum profile_balance_key {
    PROFILE_BALANCE_CALL = 0,       /* below an MPI node: waiting in that call */
    PROFILE_BALANCE_CONTEXT = 1,    /* charged to this context of late ranks */
    PROFILE_BALANCE_NO_CONTEXT = 2, /* below the root: to ranks that no context takes longer than the mean */
    PROFILE_BALANCE_MORE_RANKS = 3, /* below the root: to ranks whose contexts were not compared */
    PROFILE_BALANCE_KEYS = 4
};

/* In a metric's place at these nodes, in nanoseconds. */
struct profile_balance {
    double charged;     /* waiting of other ranks */
    double most;        /* the part of one rank, which is charged most of it */
    double common;      /* of a call: what all wait in it, as long as the rank that waits least; nobody is charged */
    double time, mean;  /* of a context: while something ran in it, in that one rank, and in a rank on average */
    uint32_t most_rank; /* whose `most` and `time` are */
    uint32_t reserved[5];
};

_Static_assert(sizeof(struct profile_balance) == sizeof(struct profile_metric), "it stands in a metric's place");

#endif
