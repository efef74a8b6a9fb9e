#include "tests/simulator/crowd.h"

#include "tests/simulator/machine.h"
#include "tests/simulator/oracle.h"

#define MOST_RANKS 64u

/* By number; 0 is the process's own, which waits if a thread of it does, and for anybody. */
static struct {
    bool waits;
    uint32_t peer; /* 0: anybody */
} ranks[MOST_RANKS];

void crowd_blame(const struct crowd *crowd, uint32_t cores, double *weight)
{
    double busy = crowd->busy > 0 ? crowd->busy : 1;
    weight[METRIC_SHARED_IDLE] = crowd->in_use > busy ? crowd->in_use / busy - 1 : 0;
    weight[METRIC_THREAD_IDLE] = oracle_threads_most() / busy - 1;
    weight[METRIC_CORE_IDLE] = cores / busy - 1;
}

void crowd_tell_rank(uint32_t number, bool waits, uint32_t peer)
{
    ranks[number].waits = waits;
    ranks[number].peer = peer;
}

static double busy_ranks(void)
{
    double busy = 0;
    for (uint32_t i = 0; i <= machine.scenario->ranks; i++)
        busy += !ranks[i].waits;
    return busy;
}

/* What a wait adds to the own rank's blame: all of it if it is at the end of those that wait for one another. */
static double blame_for(uint32_t number)
{
    for (uint32_t steps = 0; steps <= machine.scenario->ranks; steps++) {
        if (!ranks[number].peer)
            return 1 / busy_ranks();
        number = ranks[number].peer - 1;
        if (!ranks[number].waits)
            return number == 0;
    }
    return 0; /* a circle */
}

double crowd_blame_of_rank(const struct crowd *crowd)
{
    double blame = 0, threads = crowd->busy > 0 ? crowd->busy : crowd->in_use;
    ranks[0].waits = crowd->in_mpi > 0;
    for (uint32_t i = 1; i <= machine.scenario->ranks && !ranks[0].waits; i++)
        blame += ranks[i].waits ? blame_for(i) / threads : 0;
    return blame;
}

double crowd_waited(const struct crowd *crowd)
{
    ranks[0].waits = true;
    return busy_ranks() > 0 ? 1 / crowd->in_mpi : 0;
}
