/* Mutual exclusion: critical sections, locks, atomic updates. */
#include "contended.h"

static omp_lock_t lock;
static omp_nest_lock_t nest;

CONTENDED(plain_lock, omp_init_lock(&lock), omp_set_lock(&lock), omp_unset_lock(&lock))
CONTENDED(nest_lock, omp_init_nest_lock(&nest), (omp_set_nest_lock(&nest), omp_set_nest_lock(&nest)),
          (omp_unset_nest_lock(&nest), omp_unset_nest_lock(&nest)))

/* As above, for blocks. */
#define CONTENDED_BLOCK(name, directive)                                                                               \
    NAMED static void name##_section(double before_s, double hold_s)                                                   \
    {                                                                                                                  \
        work_for(#name "_section", before_s);                                                                          \
        double got_s, asked_s = clock_s();                                                                             \
        PRAGMA(directive)                                                                                              \
        {                                                                                                              \
            got_s = clock_s();                                                                                         \
            held++;                                                                                                    \
            spin_until(got_s + hold_s);                                                                                \
        }                                                                                                              \
        record_lock(#name "_section", &held, asked_s, got_s, clock_s());                                               \
    }                                                                                                                  \
    static bool name(void)                                                                                             \
    {                                                                                                                  \
        for (int round = 0; round < ROUNDS; round++) {                                                                 \
            PRAGMA(omp parallel num_threads(2))                                                                        \
            {                                                                                                          \
                bool holder = omp_get_thread_num() == 0;                                                               \
                name##_section(holder ? 0.0001 : 0.0053, holder ? HOLD_S : 0.0001);                                    \
                STAY;                                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        return held == 2 * ROUNDS;                                                                                     \
    }

CONTENDED_BLOCK(critical_unnamed, omp critical)
CONTENDED_BLOCK(critical_named, omp critical(table))
CONTENDED_BLOCK(critical_hint, omp critical(hinted) hint(omp_sync_hint_contended))

enum { UPDATES = 300000 };

/* Testing never waits: who does not get the lock goes on working. */
static bool test_lock(void)
{
    int got = 0, refused = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(2) reduction(+ : got, refused)
    {
        if (omp_get_thread_num() == 0) {
            got += omp_test_lock(&lock) != 0;
            got += omp_test_nest_lock(&nest) == 1;
            got += omp_test_nest_lock(&nest) == 2;
        }
#pragma omp barrier
        if (omp_get_thread_num() == 1) {
            refused += omp_test_lock(&lock) == 0;
            refused += omp_test_nest_lock(&nest) == 0;
        }
        uneven(omp_get_thread_num());
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
            omp_unset_lock(&lock);
        }
    }
    return got == 3 && refused == 2;
}

static bool atomic(void)
{
    long count = 0, seen = 0;
    double sum = 0;
#pragma omp parallel num_threads(2)
    {
        long last = 0;
        for (int i = 0; i < UPDATES; i++) {
#pragma omp atomic
            count++;
#pragma omp atomic update
            sum += 1;
#pragma omp atomic capture
            last = ++seen;
        }
#pragma omp atomic read
        last = seen;
        uneven(last < UPDATES ? 1 : omp_get_thread_num());
    }
    return count == 2 * UPDATES && sum == 2 * UPDATES && seen == 2 * UPDATES;
}

/* Ten bytes: no instruction does it. */
static bool atomic_wide(void)
{
    long double sum = 0;
#pragma omp parallel num_threads(2)
    {
        for (int i = 0; i < UPDATES; i++) {
#pragma omp atomic
            sum += 1;
        }
        uneven(omp_get_thread_num());
    }
    return sum == 2 * UPDATES;
}

static const struct construct constructs[] = {
    {"plain_lock", plain_lock, 0},
    {"nest_lock", nest_lock, 0},
    {"critical_unnamed", critical_unnamed, 0},
    {"critical_named", critical_named, 0},
    {"critical_hint", critical_hint, 0},
    {"test_lock", test_lock, 0},
    {"atomic", atomic, 0},
    {"atomic_wide", atomic_wide, 0},
};

COVERAGE_MAIN(constructs)
