/* Two threads want the same lock, and one of them holds it for long in a function of its own. */
#ifndef BLAME_TESTS_COVERAGE_CONTENDED_H
#define BLAME_TESTS_COVERAGE_CONTENDED_H

#include "coverage.h"

enum { ROUNDS = 3 };
static const double HOLD_S = 0.0403;

/* The waiter asks when the holder has had the lock for a while. */
#define CONTENDED(name, prepare, acquire, release)                                                                     \
    NAMED static void name##_holder(void)                                                                              \
    {                                                                                                                  \
        double asked_s = clock_s();                                                                                    \
        acquire;                                                                                                       \
        double got_s = clock_s();                                                                                      \
        held++;                                                                                                        \
        spin_until(got_s + HOLD_S);                                                                                    \
        release;                                                                                                       \
        record_lock(#name "_holder", &held, asked_s, got_s, clock_s());                                                \
    }                                                                                                                  \
    NAMED static void name##_waiter(void)                                                                              \
    {                                                                                                                  \
        work_for(#name "_waiter", 0.0053);                                                                             \
        double asked_s = clock_s();                                                                                    \
        acquire;                                                                                                       \
        double got_s = clock_s();                                                                                      \
        held++;                                                                                                        \
        release;                                                                                                       \
        record_lock(#name "_waiter", &held, asked_s, got_s, clock_s());                                                \
    }                                                                                                                  \
    static bool name(void)                                                                                             \
    {                                                                                                                  \
        prepare;                                                                                                       \
        for (int round = 0; round < ROUNDS; round++) {                                                                 \
            PRAGMA(omp parallel num_threads(2))                                                                        \
            {                                                                                                          \
                if (omp_get_thread_num() == 0)                                                                         \
                    name##_holder();                                                                                   \
                else                                                                                                   \
                    name##_waiter();                                                                                   \
                STAY;                                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        return held == 2 * ROUNDS;                                                                                     \
    }
#define PRAGMA(text) _Pragma(#text)

static int held;

#endif
