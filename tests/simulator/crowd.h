/* Who works and who waits at a moment, in this process and on its node, and what that makes of a moment of one of them. */
#ifndef BLAME_TESTS_SIMULATOR_CROWD_H
#define BLAME_TESTS_SIMULATOR_CROWD_H

#include "tests/simulator/oracle.h"

struct crowd {
    double busy, in_use, in_mpi; /* threads */
    double ranks, ranks_waiting; /* others' */
};

/* Of a busy thread, for those of its team that idle. */
static inline void crowd_blame(const struct crowd *crowd, uint32_t cores, double *weight)
{
    double busy = crowd->busy > 0 ? crowd->busy : 1;
    weight[METRIC_SHARED_IDLE] = crowd->in_use > busy ? crowd->in_use / busy - 1 : 0;
    weight[METRIC_THREAD_IDLE] = oracle_threads_most() / busy - 1;
    weight[METRIC_CORE_IDLE] = cores / busy - 1;
}

/* Of a busy thread, for other ranks: its rank is busy if no thread of it is in MPI. */
static inline double crowd_blame_of_rank(const struct crowd *crowd)
{
    double busy = 1 + crowd->ranks - crowd->ranks_waiting;
    return crowd->in_mpi > 0 ? 0 : crowd->ranks_waiting / busy / crowd->busy;
}

/* Of one in MPI. */
static inline double crowd_waited(const struct crowd *crowd)
{
    return crowd->ranks > crowd->ranks_waiting ? 1 / crowd->in_mpi : 0;
}

#endif
