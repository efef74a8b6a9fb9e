/* What a profile of the run would have to say: from the list of what every thread did when, by summing over
 * the intervals in which nothing changed. Knows nothing of samples. */
#ifndef BLAME_TESTS_SIMULATOR_ORACLE_H
#define BLAME_TESTS_SIMULATOR_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/simulator/contexts.h"

#define NO_THREAD UINT32_MAX

enum exact_state {
    EXACT_ABSENT,
    EXACT_PARKED, /* between regions */
    EXACT_IDLE,
    EXACT_WORK,
    EXACT_OVERHEAD,
    EXACT_LOCKWAIT,
    EXACT_BLOCKED, /* asleep, outside OpenMP */
    EXACT_MPI_WAIT,
    EXACT_SPINNING, /* waiting in a loop of its own code, on a core or not */
};

enum exact_metric {
    METRIC_WORK,
    METRIC_OVERHEAD,
    METRIC_LOCK_HERE,
    METRIC_LOCK_WAIT,
    METRIC_SHARED_IDLE,
    METRIC_THREAD_IDLE,
    METRIC_CORE_IDLE,
    METRIC_IDLE, /* of threads, at context 0 only; parked is a part of it */
    METRIC_PARKED,
    METRIC_NO_CORE,
    METRIC_BLOCKED,
    METRIC_STOLEN, /* the part of no core in which nobody had it, at context 0 only */
    METRIC_MPI_WAIT,
    METRIC_RANK_BLAME,   /* other ranks' waiting */
    METRIC_RANK_WAITED,  /* the own rank's, while another is busy */
    METRIC_IDLE_NO_CORE, /* of threads that had no core, and did not wait for one */
    METRIC_COUNT
};

extern const char *const metric_name[METRIC_COUNT];

uint32_t oracle_no_core(uint32_t context); /* what is not run there, and what others wait for because of that */
uint32_t oracle_handoff(uint32_t context); /* of who waits there for a lock that nobody holds */

/* Nanoseconds, inclusive. */
struct exact {
    double value[METRIC_COUNT];
    double squares[METRIC_COUNT];  /* of what a moment adds, times its length */
    double cells[METRIC_COUNT];    /* squares of what each thread's periods add in all */
    double heaviest[METRIC_COUNT]; /* most that a moment adds */
};

/* The variance of a sum for which each period of a thread is asked once, at any of its moments (docs/accounting.md). */
double oracle_variance(const struct exact *exact, int metric, double period_ns);

/* One for each context; [0, oracle_place_count()) of places: who waited where, in thread nanoseconds of
 * idleness. */
struct exact *oracle_integrate(uint32_t cores, double period_ns);
uint32_t oracle_place_count(void);
uint64_t oracle_place(uint32_t number); /* a PROFILE_PLACE_KEY */
struct exact oracle_place_exact(uint32_t number);
uint32_t oracle_threads_most(void);

/* What happens, at machine.now_ns. The first microseconds of a thread's waits, the grace, are the runtime's work. */
void oracle_state(uint32_t thread, enum exact_state state, uint32_t context, uint64_t place, uint32_t lock);
/* It wants one, and has none; ready: for what it does, or only for a sample that has woken it; stolen: it had one when everything began to stand
 * still. */
void oracle_core(uint32_t thread, bool no_core, bool ready, bool stolen);
/* It stands still, as all of them do, and goes on. */
void oracle_stopped(uint32_t thread, bool stopped);
/* One of the others waits from now on, or works; for whom, 0: for anybody, 1: for the process's own rank, 2 ... : the others. */
void oracle_rank(uint32_t number, bool waits, uint32_t peer);
/* Whom waiting for it is blamed on, and whose samples count it; NO_THREAD: the waiters' own. */
void oracle_lock(uint32_t lock, bool held, uint32_t context, uint32_t holder);
/* A thread enters a section whose order is given, or leaves it. Until the next one enters, it is that one's turn. */
void oracle_turn(uint32_t lock, uint32_t thread, bool inside);
void oracle_count(int threads); /* of the program's */

#endif
