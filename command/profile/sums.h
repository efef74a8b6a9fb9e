/* The sums that readers have for a context. Time without a core, blocked time, MPI wait and blame across
 * ranks are separate fields here; in the file they are in `work` of records of their own
 * (cct/profile_format.h). */
#ifndef BLAME_COMMAND_PROFILE_SUMS_H
#define BLAME_COMMAND_PROFILE_SUMS_H

#include "cct/profile_metrics.h"

struct profile_header;

/* Busy time in ns: a part of the own time, besides the record's work, overhead and lock_wait. */
#define PROFILE_SUMS_BUSY(FIELD)                                                                                       \
    FIELD(no_core)                                                                                                     \
    FIELD(blocked)                                                                                                     \
    FIELD(mpi_wait)

/* Sums that are no part of the own time; times in ns. */
#define PROFILE_SUMS_MORE(FIELD)                                                                                       \
    FIELD(blocked_idle)  /* the part of shared_idle beside blocked threads */                                          \
    FIELD(mpi_calls)     /* sampled MPI calls */                                                                       \
    FIELD(mpi_ranks)     /* sum of their communicators' sizes */                                                       \
    FIELD(mpi_bytes)     /* sum of the bytes that they moved */                                                        \
    FIELD(rank_idle)     /* struct profile_ranks: blame */                                                             \
    FIELD(rank_named)    /* struct profile_ranks: named */                                                             \
    FIELD(rank_wall)     /* struct profile_ranks: wall */                                                              \
    FIELD(rank_waited)   /* struct profile_ranks: waited */                                                            \
    FIELD(own_elsewhere) /* own time here whose inverse_busy is in another context; negative in that other context */

/* A struct profile_metric and the sums that have no room in it. Times in ns. */
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
#define FIELD(name) double name;
    PROFILE_SUMS_BUSY(FIELD) PROFILE_SUMS_MORE(FIELD)
#undef FIELD
};

/* Convert from and to the record of a RANKS node. */
struct profile_sums profile_sums_of_ranks(const struct profile_ranks *ranks);
struct profile_ranks profile_ranks_of_sums(const struct profile_sums *sums);

_Static_assert(offsetof(struct profile_sums, shared_idle) == offsetof(struct profile_metric, shared_idle) &&
                   offsetof(struct profile_sums, waits) == offsetof(struct profile_metric, waits),
               "a record may be read as what stands in a metric's place");

/* Returns the own time of LMF13 eq. 1: the time during which inverse_busy counts the thread. */
static inline double profile_sums_own(const struct profile_sums *sums)
{
#define FIELD(name) +sums->name
    return sums->work + sums->overhead + sums->lock_wait PROFILE_SUMS_BUSY(FIELD) - sums->own_elsewhere;
#undef FIELD
}

/* Returns the sums for the time before the tool started: returns work and blocked time, and sets *no_core to
 * time without a core. */
struct profile_sums profile_sums_before_start(const struct profile_header *header, struct profile_sums *no_core);

void profile_sums_add(struct profile_sums *to, const struct profile_sums *from);

#endif
