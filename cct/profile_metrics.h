/* What the measurement file (cct/profile_format.h) has of each node of its trees (cct/profile_tree.h): one record, of which kind the node's says. */
#ifndef BLAME_CCT_PROFILE_METRICS_H
#define BLAME_CCT_PROFILE_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* Exclusive sums of one node; times in nanoseconds (docs/accounting.md). The busy time `own` of LMF13 eq. 1
 * is work + overhead + lock_wait. */
struct profile_metric {
    uint64_t samples;      /* samples attributed here (a sample with overruns counts 1 + overruns) */
    double work;           /* p summed over samples in WORK */
    double overhead;       /* p summed over samples in OVERHEAD */
    double lock_wait;      /* directed blame received by this context as the lock's holder */
    double inverse_busy;   /* sum of p / b */
    double shared_idle;    /* sum of p (t_now / b - 1) */
    double lock_wait_here; /* p summed over LOCKWAIT samples of threads waiting in this context */
    uint32_t waits;        /* LOCK nodes: acquisitions here that at least one sample saw waiting */
    float idle_beside;     /* sum of p (t_now / b - 1)(1 - 1 / b), for idleness's error; 0: as if b was 1 */
};

/* In a metric's place at WAITERS nodes: idleness in nanoseconds, and parts of it by what the thread that was
 * sampled did meanwhile. */
struct profile_idle {
    uint64_t reserved;
    double loops;       /* it worked in a loop or sections of n pieces (iterations), N threads */
    double scarcity;    /* the same times N / n */
    double dynamic;     /* the part of loops whose schedule is not static */
    double single;      /* it executed a single construct */
    double shared_idle; /* the whole, in the place of a metric's */
    double reserved_double;
    uint64_t reserved_last;
};

/* In a metric's place at WAITS and INITIALISER nodes: one thread's waits for one lock, as its samples saw
 * them. */
struct profile_waits {
    double sum_ns;
    double longest_ns;  /* most that one wait took */
    double last_ns;     /* of the last wait, so far */
    uint64_t last_wait; /* the thread's number of that wait */
    uint64_t waits;
    uint64_t searched; /* 1: the critical section's variable was looked for */
    uint64_t reserved[2];
};

/* In a metric's place at RANKS nodes, in nanoseconds. Of a busy context the first three, of a call the fourth. */
struct profile_ranks {
    double blame;  /* rank idleness: other ranks' waiting that this context is answerable for */
    double named;  /* the part of it whose waiters had said that they wait for this rank */
    double wall;   /* for how long somebody waited */
    double waited; /* the call waited so long while another rank of its node was busy, and blamed for it */
    double reserved[4];
};

/* In a metric's place at PROBE nodes: begin/end pairs, those that ended. Pauses are not part of it. */
struct profile_probe {
    uint64_t calls;
    double inclusive_ns;
    double exclusive_ns; /* without what was begun inside, by the same thread */
    double shortest_ns;  /* of one call, inclusive */
    double longest_ns;
    double sum_of_squares;   /* of inclusive times, in ns^2 */
    uint64_t first_begin_ns; /* on the clock of profile_header.start_ns */
    uint64_t last_end_ns;
};

/* Which time of a context's: of the context itself, or of the frames below it, that is of the function called there; its own, or with what
 * it calls. Contexts that are no frames have both, frames the latter. */
enum profile_spread_metric {
    PROFILE_SPREAD_TIME =
        0, /* of threads in any state but idle: work, overhead, lock wait here, no core, blocked, mpi wait */
    PROFILE_SPREAD_WORK = 1,
    PROFILE_SPREAD_MPI_WAIT = 2,
    PROFILE_SPREAD_METRICS = 3
};
#define PROFILE_SPREAD_EXCLUSIVE 4u
#define PROFILE_SPREAD_CALLEE    8u
#define PROFILE_SPREAD_KEYS      16u
#define PROFILE_SPREAD_KEY(metric, exclusive, callee)                                                                  \
    ((uint32_t)(metric) | ((exclusive) ? PROFILE_SPREAD_EXCLUSIVE : 0) | ((callee) ? PROFILE_SPREAD_CALLEE : 0))

/* In a metric's place at SPREAD nodes: one number of each rank's process that has it, more than 0; in nanoseconds. */
struct profile_spread {
    double mean, squares; /* squares: the sum of (value - mean)^2 */
    double least, most;
    uint32_t ranks;                                              /* that have it */
    uint32_t least_rank, least_process, most_rank, most_process; /* whose they are, as in profile_header */
    uint32_t reserved[3];
};

#define PROFILE_COUNTERS 8u /* most of BLAME_COUNTERS */

/* In a metric's place at COUNTERS nodes: in the order of the file's text "counters". */
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
