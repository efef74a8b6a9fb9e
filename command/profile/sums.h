/* What readers have of a context: a metric record's sums, and apart from them what came of `<no core>`, blocked time, MPI wait and blame across ranks,
 * whose records have it in a metric's `work` (cct/profile_format.h). */
#ifndef BLAME_COMMAND_PROFILE_SUMS_H
#define BLAME_COMMAND_PROFILE_SUMS_H

#include "cct/profile_metrics.h"

struct profile_header;

/* As struct profile_metric, and behind it what that has no room for. Times in nanoseconds. */
struct profile_sums {
    union {
        struct profile_metric metric;
        struct { /* its fields */
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
    double no_core;
    double blocked;
    double blocked_idle; /* the part of shared_idle that is beside it */
    double mpi_wait;
    double mpi_calls, mpi_ranks,
        mpi_bytes; /* calls that samples hit; sizes of their communicators and what they moved, added up */
    double rank_idle, rank_named, rank_wall, rank_waited; /* struct profile_ranks: blame, named, wall, waited */
    double own_elsewhere; /* the part of these times whose inverse_busy is another context's, where it is negative */
};

/* As a RANKS node has them, and as it is written. */
struct profile_sums profile_sums_of_ranks(const struct profile_ranks *ranks);
struct profile_ranks profile_ranks_of_sums(const struct profile_sums *sums);

_Static_assert(offsetof(struct profile_sums, shared_idle) == offsetof(struct profile_metric, shared_idle) &&
                   offsetof(struct profile_sums, waits) == offsetof(struct profile_metric, waits),
               "a record may be read as what stands in a metric's place");

/* The own time of LMF13 eq. 1: what inverse_busy counts threads in. */
static inline double profile_sums_own(const struct profile_sums *sums)
{
    return sums->work + sums->overhead + sums->lock_wait + sums->no_core + sums->blocked + sums->mpi_wait -
           sums->own_elsewhere;
}

/* Of the time before the tool started: what the program had a core for, or slept, and what it had none for. */
struct profile_sums profile_sums_before_start(const struct profile_header *header, struct profile_sums *no_core);

void profile_sums_add(struct profile_sums *to, const struct profile_sums *from);

#endif
