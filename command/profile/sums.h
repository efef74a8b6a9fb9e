/* The sums that reports use for a context. Time without a core, blocked time, MPI wait and the blame of ranks
 * are fields here. In the file, they are in records of their own (cct/profile_format.h). */
#ifndef BLAME_COMMAND_PROFILE_SUMS_H
#define BLAME_COMMAND_PROFILE_SUMS_H

#include "cct/profile_metrics.h"

struct profile_header;

#define PROFILE_TREE_SETS 64u /* trees with equal numbers modulo this are a set */

/* Kinds of busy time, in ns, that have no field in struct profile_metric. A context's own time is the sum of
 * these, work, overhead and lock_wait. */
#define PROFILE_SUMS_BUSY(FIELD)                                                                                       \
    FIELD(no_core)                                                                                                     \
    FIELD(blocked)                                                                                                     \
    FIELD(mpi_wait)

/* Sums that are not part of the own time. Times are in ns. */
#define PROFILE_SUMS_MORE(FIELD)                                                                                       \
    FIELD(blocked_idle) /* part of shared_idle blamed on blocked threads */                                            \
    FIELD(mpi_calls)    /* sampled MPI calls */                                                                        \
    FIELD(mpi_ranks)    /* sum of the communicators' sizes in these calls */                                           \
    FIELD(mpi_bytes)    /* sum of the bytes that these calls transferred */                                            \
    FIELD(rank_idle)    /* field `blame` of struct profile_ranks */                                                    \
    FIELD(rank_named)   /* field `named` of struct profile_ranks */                                                    \
    FIELD(rank_wall)    /* field `wall` of struct profile_ranks */                                                     \
    FIELD(rank_waited)  /* field `waited` of struct profile_ranks */                                                   \
    FIELD(core_idle)    /* fields `idle` and `beyond` of struct profile_cores */                                       \
    FIELD(core_beyond)                                                                                                 \
    FIELD(rank_squares) /* fields `squares` of the same */                                                             \
    FIELD(core_squares)                                                                                                \
    FIELD(own_elsewhere) /* own time here that inverse_busy counts in another context; negative in that context */

/* A struct profile_metric and the sums for which it has no field. Times are in ns. */
struct profile_sums {
    union {
        struct profile_metric metric;
        struct { /* the same fields as in `metric` */
            uint64_t samples;
            double work;
            double overhead;
            double lock_wait;
            double inverse_busy;
            double shared_idle;
            double lock_wait_here;
            uint32_t waits;
            float idle_beside;
        };
    };
#define FIELD(name) double name;
    PROFILE_SUMS_BUSY(FIELD)
    PROFILE_SUMS_MORE(FIELD)
#undef FIELD
    /* of the contexts' NEIGHBOURS nodes, in ns^2, by enum profile_neighbours_sum: by how much their variances are beyond those
     * of independent samples; mostly negative */
    float beyond[PROFILE_NEIGHBOURS_SUMS];
    /* bit mask of the sets of trees that these sums are from; 0: unknown, as in a job */
    uint64_t trees;
};

/* Convert between a RANKS node's record and a struct profile_sums. */
struct profile_sums profile_sums_of_ranks(const struct profile_ranks *ranks);
struct profile_ranks profile_ranks_of_sums(const struct profile_sums *sums);

_Static_assert(offsetof(struct profile_sums, shared_idle) == offsetof(struct profile_metric, shared_idle) &&
                   offsetof(struct profile_sums, waits) == offsetof(struct profile_metric, waits),
               "struct profile_sums begins with the fields of struct profile_metric");

/* Returns the own time in ns, as in equation 1 of LMF13 (docs/accounting.md): the time in which inverse_busy
 * counts the thread. */
static inline double profile_sums_own(const struct profile_sums *sums)
{
#define FIELD(name) +sums->name
    return sums->work + sums->overhead + sums->lock_wait PROFILE_SUMS_BUSY(FIELD) - sums->own_elsewhere;
#undef FIELD
}

/* Returns the work and blocked time from before the tool's start. Sets *no_core to the time without a core
 * before that start. */
struct profile_sums profile_sums_before_start(const struct profile_header *header, struct profile_sums *no_core);

void profile_sums_add(struct profile_sums *to, const struct profile_sums *from);

#endif
