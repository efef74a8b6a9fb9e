/* The records of the measurement file (cct/profile_format.h) that belong to nodes of its trees
 * (cct/profile_tree.h). A node has one record, and the node's kind determines the record's kind. */
#ifndef BLAME_CCT_PROFILE_METRICS_H
#define BLAME_CCT_PROFILE_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* Exclusive sums of one node; times in ns (docs/accounting.md). The busy time `own` of equation 1 of LMF13 is
 * work + overhead + lock_wait. */
struct profile_metric {
    uint64_t samples;      /* samples of this node; a sample with overruns counts 1 + overruns */
    double work;           /* p summed over samples in WORK */
    double overhead;       /* p summed over samples in OVERHEAD */
    double lock_wait;      /* blame that this context received as the lock's holder */
    double inverse_busy;   /* sum of p / b */
    double shared_idle;    /* sum of p (t_now / b - 1) */
    double lock_wait_here; /* p summed over samples of threads that waited for a lock in this context */
    uint32_t waits;        /* LOCK nodes: acquisitions here whose wait was seen by at least one sample */
    /* sum of p (t_now / b - 1)(1 - 1 / b), for the error of idleness; 0: as if b was 1 */
    float idle_beside;
};

/* The metric of WAITERS nodes: idleness in ns, and its parts by what the sampled thread was doing. */
struct profile_idle {
    uint64_t reserved;
    double loops;       /* part beside a loop or sections of n pieces (iterations), with N threads */
    double scarcity;    /* the same part times N / n */
    double dynamic;     /* part of `loops` with a schedule that is not static */
    double single;      /* part beside a single construct */
    double shared_idle; /* all of it, at the same offset as in a metric */
    double reserved_double;
    uint64_t reserved_last;
};

/* The metric of WAITS and INITIALISER nodes: one thread's waits for one lock, as its samples saw them. */
struct profile_waits {
    double sum_ns;
    double longest_ns;  /* longest wait */
    double last_ns;     /* length of the last wait so far */
    uint64_t last_wait; /* the thread's number of the last wait */
    uint64_t waits;
    uint64_t searched; /* 1: the variable of the critical section has been looked up */
    uint64_t reserved[2];
};

/* The metric of RANKS nodes, in ns. The first three fields are for a busy context, the fourth is for a call. */
struct profile_ranks {
    double blame;  /* rank idleness: other ranks' waiting that is blamed on this context */
    double named;  /* part of `blame` whose waiters named this rank */
    double wall;   /* time in which at least one rank waited */
    double waited; /* waiting in the call while another rank of the node was busy and got the blame */
    double reserved[4];
};

/* The metric of PROBE nodes: completed begin/end pairs, without pauses. */
struct profile_probe {
    uint64_t calls;
    double inclusive_ns;
    double exclusive_ns; /* without what the same thread began inside */
    double shortest_ns;  /* shortest call, inclusive */
    double longest_ns;
    double sum_of_squares;   /* sum over the squares of inclusive times, in ns^2 */
    uint64_t first_begin_ns; /* on the clock of profile_header.start_ns */
    uint64_t last_end_ns;
};

/* Which time of a context a spread is about. It is the time of the context itself or of a function called in
 * it (callee), exclusive or inclusive. Frames have only the latter, other contexts have both. */
enum profile_spread_metric {
    PROFILE_SPREAD_TIME =
        0, /* time in any state but idle: work, overhead, lock wait here, no core, blocked, MPI wait */
    PROFILE_SPREAD_WORK = 1,
    PROFILE_SPREAD_MPI_WAIT = 2,
    PROFILE_SPREAD_METRICS = 3
};
#define PROFILE_SPREAD_EXCLUSIVE 4u
#define PROFILE_SPREAD_CALLEE    8u
#define PROFILE_SPREAD_KEYS      16u
#define PROFILE_SPREAD_KEY(metric, exclusive, callee)                                                                  \
    ((uint32_t)(metric) | ((exclusive) ? PROFILE_SPREAD_EXCLUSIVE : 0) | ((callee) ? PROFILE_SPREAD_CALLEE : 0))

/* The metric of SPREAD nodes: one number in ns from each rank's process with more than 0. */
struct profile_spread {
    double mean, squares; /* squares: the sum of (value - mean)^2 */
    double least, most;
    uint32_t ranks; /* ranks with the value */
    /* ranks with the least and the most, as in profile_header */
    uint32_t least_rank, least_process, most_rank, most_process;
    uint32_t reserved[3];
};

#define PROFILE_COUNTERS 8u /* maximum of BLAME_COUNTERS */

/* The metric of COUNTERS nodes, in the order of the file's text "counters". */
struct profile_counters {
    double value[PROFILE_COUNTERS];
};

_Static_assert(sizeof(struct profile_idle) == sizeof(struct profile_metric) &&
                   offsetof(struct profile_idle, shared_idle) == offsetof(struct profile_metric, shared_idle),
               "parts of idleness stand in a metric's place");
_Static_assert(sizeof(struct profile_waits) == sizeof(struct profile_metric), "waits stand in a metric's place");
_Static_assert(sizeof(struct profile_probe) == sizeof(struct profile_metric) &&
                   sizeof(struct profile_counters) == sizeof(struct profile_metric),
               "and these");
_Static_assert(sizeof(struct profile_ranks) == sizeof(struct profile_metric), "and what ranks wait");
_Static_assert(sizeof(struct profile_spread) == sizeof(struct profile_metric), "and spreads");

#endif
