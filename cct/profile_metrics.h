/* The records of the measurement file (cct/profile_format.h) that belong to nodes of its trees
 * (cct/profile_tree.h). A node has at most one record. The node's kind determines which. */
#ifndef BLAME_CCT_PROFILE_METRICS_H
#define BLAME_CCT_PROFILE_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* Exclusive sums of one node, in ns. p is a sample's weight in ns, b the number of busy threads at the
 * sample, t_now the number of threads in use (docs/accounting.md). The busy time `own` in equation 1 of LMF13
 * is work + overhead + lock_wait. */
struct profile_metric {
    uint64_t samples;    /* number of samples of this node, including those that timer overruns stand for */
    double work;         /* p summed over samples that found the thread working */
    double overhead;     /* p summed over samples that found the thread in the runtime */
    double lock_wait;    /* waiting of other threads for a lock that this context held */
    double inverse_busy; /* p / b, summed */
    /* p (t_now / b - 1), summed: idleness of other threads that is blamed on this context */
    double shared_idle;
    double lock_wait_here; /* p summed over samples that found a thread waiting for a lock in this context */
    uint32_t waits;        /* LOCK nodes: number of acquisitions whose wait was seen by at least one sample */
    /* p (t_now / b - 1)(1 - 1 / b), summed, from which the error of idleness is computed; 0 in older files,
     * as if b were 1 */
    float idle_beside;
};

/* The metric of WAITERS nodes: idleness in ns, and its parts by the construct that the sampled thread was
 * executing. */
struct profile_idle {
    uint64_t reserved;
    /* part while the sampled thread executed a loop or sections of n pieces, with a team of N threads */
    double loops;
    double scarcity;    /* the same part, multiplied by N / n */
    double dynamic;     /* part of `loops` in loops whose schedule is not static */
    double single;      /* part while the sampled thread executed a single construct */
    double shared_idle; /* all of it; at the same offset as in struct profile_metric */
    double reserved_double;
    uint64_t reserved_last;
};

/* The metric of WAITS and INITIALISER nodes: the waits of one thread for one lock, as seen by its samples. */
struct profile_waits {
    double sum_ns;
    double longest_ns;  /* length of the longest wait */
    double last_ns;     /* length of the last wait, until the last sample in it */
    uint64_t last_wait; /* number of the last wait among the thread's acquisitions */
    uint64_t waits;
    uint64_t searched; /* 1: the variable of this critical section has been searched for */
    uint64_t reserved[2];
};

/* The metric of RANKS nodes, in ns. The first three fields are used below a busy context, `waited` below a
 * call. */
struct profile_ranks {
    double blame;  /* rank idleness: other ranks' waiting that is blamed on this context */
    double named;  /* part of `blame` from ranks whose MPI call named this rank */
    double wall;   /* ns in which at least one rank waited */
    double waited; /* waiting in the call that was blamed on another, busy rank of the node */
    double reserved[4];
};

/* The metric of PROBE nodes: sums over completed pairs of begin and end. Pauses are excluded. */
struct profile_probe {
    uint64_t calls;
    double inclusive_ns;
    double exclusive_ns; /* without phases, events and parameters that the same thread began inside */
    double shortest_ns;  /* shortest call, inclusive */
    double longest_ns;
    double sum_of_squares;   /* sum of the squares of the inclusive times, in ns^2 */
    uint64_t first_begin_ns; /* time on the clock of profile_header.start_ns */
    uint64_t last_end_ns;
};

/* The time of a context whose spread over the ranks a SPREAD node describes. It is either the context's own
 * (exclusive or inclusive), or that of a function called in the context (callee). Frames have only the
 * latter, other contexts have both. */
enum profile_spread_metric {
    /* time in all states but idle: work, overhead, lock wait, no core, blocked, MPI wait */
    PROFILE_SPREAD_TIME = 0,
    PROFILE_SPREAD_WORK = 1,
    PROFILE_SPREAD_MPI_WAIT = 2,
    PROFILE_SPREAD_METRICS = 3
};
#define PROFILE_SPREAD_EXCLUSIVE 4u
#define PROFILE_SPREAD_CALLEE    8u
#define PROFILE_SPREAD_KEYS      16u
#define PROFILE_SPREAD_KEY(metric, exclusive, callee)                                                                  \
    ((uint32_t)(metric) | ((exclusive) ? PROFILE_SPREAD_EXCLUSIVE : 0) | ((callee) ? PROFILE_SPREAD_CALLEE : 0))

/* The metric of SPREAD nodes: statistics over the processes in which the time is more than 0, in ns. */
struct profile_spread {
    double mean, squares; /* mean, and sum of (value - mean)^2 */
    double least, most;
    uint32_t ranks; /* number of processes with more than 0 */
    /* rank and process with the least and with the most */
    uint32_t least_rank, least_process, most_rank, most_process;
    uint32_t reserved[3];
};

#define PROFILE_COUNTERS 8u /* maximum number of events in BLAME_COUNTERS */

/* The metric of COUNTERS nodes. The file's text "counters" names the values, in this order. */
struct profile_counters {
    double value[PROFILE_COUNTERS];
};

_Static_assert(sizeof(struct profile_idle) == sizeof(struct profile_metric) &&
                   offsetof(struct profile_idle, shared_idle) == offsetof(struct profile_metric, shared_idle),
               "parts of idleness use the fields of a struct profile_metric");
_Static_assert(sizeof(struct profile_waits) == sizeof(struct profile_metric), "a struct profile_waits takes the place "
                                                                              "of a struct profile_metric");
_Static_assert(sizeof(struct profile_probe) == sizeof(struct profile_metric) &&
                   sizeof(struct profile_counters) == sizeof(struct profile_metric),
               "and these");
_Static_assert(sizeof(struct profile_ranks) == sizeof(struct profile_metric), "a struct profile_ranks takes the place "
                                                                              "of a struct profile_metric");
_Static_assert(sizeof(struct profile_spread) == sizeof(struct profile_metric), "and spreads");

#endif
