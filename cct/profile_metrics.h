/* Records for the nodes of the trees (cct/profile_tree.h) in the measurement file (cct/profile_format.h). A
 * node has at most one record, whose type depends on the node's kind. */
#ifndef BLAME_CCT_PROFILE_METRICS_H
#define BLAME_CCT_PROFILE_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* Exclusive sums of one node, in ns. p is the weight of a sample in ns, b the number of busy threads at the
 * sample, t_now the number of threads in use (docs/accounting.md). In equation 1 of LMF13, the busy time
 * `own` is work + overhead + lock_wait. */
struct profile_metric {
    /* number of the node's samples; a signal that stands for n expirations of the timer counts n times */
    uint64_t samples;
    double work;         /* p summed over samples that found the thread working */
    double overhead;     /* p summed over samples that found the thread in the runtime */
    double lock_wait;    /* ns for which other threads waited for a lock that this context held */
    double inverse_busy; /* p / b summed over samples */
    /* p (t_now / b - 1) summed over samples: idleness of other threads that is blamed on this context */
    double shared_idle;
    double lock_wait_here; /* p summed over samples that found a thread waiting for a lock in this context */
    /* for LOCK nodes: number of acquisitions whose wait was seen by at least one sample */
    uint32_t waits;
    /* p (t_now / b - 1)(1 - 1 / b) summed over samples, from which the error of idleness is computed; 0 in
     * older files, as if b were 1 */
    float idle_beside;
};

/* The metric of WAITERS nodes: idleness in ns, and its parts by the construct that the sampled thread was
 * executing. (In these sums a loop, or a set of sections, has n pieces, and the team N threads.) */
struct profile_idle {
    uint64_t reserved;
    /* part while the sampled thread executed a loop or sections */
    double loops;
    double scarcity;    /* like `loops`, but each summand is multiplied by N / n */
    double dynamic;     /* part of `loops` in loops whose schedule is not static */
    double single;      /* part while the sampled thread executed a single construct */
    double shared_idle; /* the whole idleness; at the same offset as in struct profile_metric */
    double sections;    /* part of `loops` in sections; 0 in older files */
    uint64_t reserved_last;
};

/* The metric of WAITS and INITIALISER nodes: the waits of one thread for one lock, as seen by its samples. */
struct profile_waits {
    double sum_ns;
    double longest_ns; /* length of the longest wait */
    double last_ns;    /* length of the last wait, up to the last sample in it */
    /* number of the acquisition, counted in this thread, to which the last wait belonged */
    uint64_t last_wait;
    uint64_t waits;
    uint64_t searched; /* 1: the variable of this critical section has already been searched for */
    uint64_t reserved[2];
};

/* The metric of RANKS nodes, in ns. Below a busy context the first three fields are used; below an MPI call,
 * only `waited`. */
struct profile_ranks {
    double blame; /* rank idleness: other ranks' waiting that is blamed on this context */
    double named; /* part of `blame` from ranks whose MPI call waited for this particular rank */
    double wall;  /* ns in which at least one rank waited */
    /* waiting in the MPI call that was blamed on another rank, which was busy on the same node */
    double waited;
    double squares; /* like `blame`, of its square: p x^2 for a sample that adds p x; 0 in older files */
    double reserved[3];
};

/* The metric of PROBE nodes: sums over completed executions of a phase, event or parameter. Pauses are
 * excluded. */
struct profile_probe {
    uint64_t calls;
    double inclusive_ns;
    /* inclusive time without the phases, events and parameters that the same thread began inside */
    double exclusive_ns;
    double shortest_ns; /* shortest call, inclusive */
    double longest_ns;
    double sum_of_squares;   /* sum of the squares of the inclusive times, in ns^2 */
    uint64_t first_begin_ns; /* time on the clock of profile_header.start_ns */
    uint64_t last_end_ns;
};

/* The times of a context for which SPREAD nodes describe the spread over the ranks. A time is either the
 * context's own (exclusive or inclusive) or that of one function called in the context (callee). A FRAME has
 * only callee times, other contexts have both. */
enum profile_spread_metric {
    /* time in all states except idle: work, overhead, lock wait, no core, blocked, MPI wait */
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

/* The metric of SPREAD nodes: statistics of a time over those processes in which it is more than 0 ns. */
struct profile_spread {
    double mean, squares; /* mean, and sum of (value - mean)^2 */
    double least, most;
    uint32_t ranks; /* number of processes in which the time is more than 0 */
    /* rank and process in which the time is least, and in which it is most */
    uint32_t least_rank, least_process, most_rank, most_process;
    uint32_t reserved[3];
};

/* The metric of CORES nodes, in ns: cores that nothing used while the parent's context ran, of a program without a
 * team. p is the weight of a sample, C the number of cores, r the number of threads that ran or were ready. */
struct profile_cores {
    double idle;    /* p max(0, C - r) / r summed over samples */
    double beyond;  /* p max(0, r - C) / r summed over samples */
    double squares; /* like `idle`, of its square: p x^2 for a sample that adds p x; 0 in older files */
    double reserved[5];
};

/* The metric of WOKEN nodes: waits that ended because another thread signalled. Samples have found the waiting thread
 * asleep; its sleep is in the parent's context, too, as blocked time. */
struct profile_woken {
    double ns;
    double waits; /* number of the waits */
    double reserved[6];
};

/* The sums whose variance is estimated from neighbouring samples (docs/accounting.md, "What is stated"). */
enum profile_neighbours_sum {
    PROFILE_NEIGHBOURS_WORK,
    PROFILE_NEIGHBOURS_LOCK_WAIT,
    PROFILE_NEIGHBOURS_LOCK_WAIT_HERE,
    PROFILE_NEIGHBOURS_MPI_WAIT,
    PROFILE_NEIGHBOURS_SHARED_IDLENESS,
    PROFILE_NEIGHBOURS_INVERSE_BUSY, /* this, the next and both make thread idleness for any number of threads */
    PROFILE_NEIGHBOURS_OWN,          /* busy time, and lock wait that the thread is blamed for */
    PROFILE_NEIGHBOURS_BOTH,         /* twice the covariance of these two */
    PROFILE_NEIGHBOURS_BLOCKED,      /* this and what follows are in the second record */
    PROFILE_NEIGHBOURS_NO_CORE,
    PROFILE_NEIGHBOURS_CORES, /* core idleness without a team */
    PROFILE_NEIGHBOURS_RANKS, /* rank idleness */
    PROFILE_NEIGHBOURS_SUMS
};

#define PROFILE_NEIGHBOURS_EACH    8u /* number of sums in a record */
#define PROFILE_NEIGHBOURS_RECORDS 2u

/* The metric of NEIGHBOURS nodes, in ns^2: x (x - 5/3 a + 2/3 b) summed over the periods of all threads of the tree,
 * for each sum. In one period x was added to the sum, in the period before it a, and in the one before that b. A sample of
 * n periods counts as n samples of x / n. Record number k has the sums from number 8 k on.
 * Below a context: the same of its own samples, where a is 0 if that sample was in another context, and so is b; without x^2
 * of each period. */
struct profile_neighbours {
    double variance[PROFILE_NEIGHBOURS_EACH];
};

#define PROFILE_COUNTERS 8u /* maximum number of events in BLAME_COUNTERS */

/* The metric of COUNTERS nodes. The file's text "counters" names the values in the same order. */
struct profile_counters {
    double value[PROFILE_COUNTERS];
};

_Static_assert(sizeof(struct profile_idle) == sizeof(struct profile_metric) &&
                   offsetof(struct profile_idle, shared_idle) == offsetof(struct profile_metric, shared_idle),
               "parts of idleness use the fields of a struct profile_metric");
_Static_assert(sizeof(struct profile_waits) == sizeof(struct profile_metric),
               "a struct profile_waits is as large as a struct profile_metric");
_Static_assert(sizeof(struct profile_probe) == sizeof(struct profile_metric) &&
                   sizeof(struct profile_counters) == sizeof(struct profile_metric),
               "and these");
_Static_assert(sizeof(struct profile_ranks) == sizeof(struct profile_metric),
               "a struct profile_ranks is as large as a struct profile_metric");
_Static_assert(sizeof(struct profile_cores) == sizeof(struct profile_metric),
               "a struct profile_cores is as large as a struct profile_metric");
_Static_assert(sizeof(struct profile_woken) == sizeof(struct profile_metric),
               "a struct profile_woken is as large as a struct profile_metric");
_Static_assert(sizeof(struct profile_neighbours) == sizeof(struct profile_metric),
               "a struct profile_neighbours is as large as a struct profile_metric");
_Static_assert(sizeof(struct profile_spread) == sizeof(struct profile_metric), "and spreads");

#endif
