/* Who works and who waits at a moment, in this process and on its node, and what that makes of a moment of one of them. */
#ifndef BLAME_TESTS_SIMULATOR_CROWD_H
#define BLAME_TESTS_SIMULATOR_CROWD_H

#include <stdbool.h>
#include <stdint.h>

struct crowd {
    double busy, in_use, in_mpi; /* threads */
};

/* Of a busy thread, for those of its team that idle. */
void crowd_blame(const struct crowd *crowd, uint32_t cores, double *weight);

/* As oracle_rank() says. */
void crowd_tell_rank(uint32_t number, bool waits, uint32_t peer);

/* Of a busy thread, or, if there is none, of each of a team, for other ranks; and of one in MPI: 1 / how many are, if a busy
 * rank is to blame. */
double crowd_blame_of_rank(const struct crowd *crowd);
double crowd_waited(const struct crowd *crowd);

#endif
