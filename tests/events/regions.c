/* Regions, and what their threads share, do one after the other, or one of them does. */
#include <pthread.h>

#include "team.h"

/* Of two pieces that two threads execute: none has both. */
HELPER void share(int piece)
{
    reach(piece);
    await(1 - piece);
}

static void parallel(void)
{
    TEAM work();
}

/* What a pool's thread says of the first region comes with the second. */
static void parallel_twice(void)
{
    TEAM work();
    TEAM work();
}

static void parallel_if0(void)
{
#pragma omp parallel if (reached[0])
    work();
}

static void parallel_one(void)
{
#pragma omp parallel num_threads(1)
    work();
}

static void parallel_resized(void)
{
    static const int sizes[] = {3, 2, 1, 3};
    for (int i = 0; i < 4; i++) {
#pragma omp parallel num_threads(sizes[i])
        work();
    }
}

static void nested(void)
{
    omp_set_max_active_levels(2);
    BY_FIRST
    TEAM work();
}

static void nested_by_second(void)
{
    omp_set_max_active_levels(2);
    TEAM
    {
        if (INDEX == 1)
            TEAM work();
        STAY;
    }
}

static void nested_serialised(void)
{
    omp_set_max_active_levels(1);
    TEAM
    {
        if (INDEX == 1)
            TEAM work();
        STAY;
    }
}

static void barrier(void)
{
    TEAM
    {
        work();
#pragma omp barrier
        work();
    }
}

static void master(void)
{
    TEAM
    {
#pragma omp master
        work();
        STAY;
    }
}

#define LOOP(name, clauses)                                                                                            \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        TEAM                                                                                                           \
        {                                                                                                              \
            PRAGMA(omp for clauses)                                                                                    \
            for (int i = 0; i < 2; i++)                                                                                \
                share(i);                                                                                              \
            STAY;                                                                                                      \
        }                                                                                                              \
    }
LOOP(for_static, schedule(static))
LOOP(for_static_nowait, schedule(static) nowait)
LOOP(for_dynamic, schedule(dynamic))
LOOP(for_dynamic_nowait, schedule(dynamic) nowait)
LOOP(for_guided, schedule(guided))

static void parallel_for_dynamic(void)
{
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int i = 0; i < 2; i++)
        share(i);
}

static void ordered(void)
{
    TEAM
    {
#pragma omp for ordered schedule(static)
        for (int i = 0; i < 2; i++) {
#pragma omp ordered
            work();
        }
        STAY;
    }
}

static void sections(void)
{
    TEAM
    {
#pragma omp sections
        {
#pragma omp section
            share(0);
#pragma omp section
            share(1);
        }
        STAY;
    }
}

/* The executor is in it before the other thread comes. */
#define SINGLE(name, executor, clauses)                                                                                \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        int value = 0;                                                                                                 \
        TEAM                                                                                                           \
        {                                                                                                              \
            int result = value;                                                                                        \
            if (INDEX != (executor))                                                                                   \
                await(0);                                                                                              \
            PRAGMA(omp single clauses)                                                                                 \
            {                                                                                                          \
                result++;                                                                                              \
                reach(0);                                                                                              \
            }                                                                                                          \
            __atomic_fetch_add(&reached[1], result, __ATOMIC_RELAXED);                                                 \
        }                                                                                                              \
    }
SINGLE(single, 0, )
SINGLE(single_by_second, 1, )
SINGLE(single_nowait, 0, nowait)
SINGLE(single_copyprivate, 0, copyprivate(result))

static void critical(void)
{
    TEAM
    {
        if (INDEX == 1)
            await(0);
#pragma omp critical
        {
            reach(0);
            work();
        }
        STAY;
    }
}

static void critical_twice(void)
{
#pragma omp critical(named)
    work();
#pragma omp critical(named)
    work();
}

static void lock(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    TEAM
    {
        if (INDEX == 1)
            await(0);
        omp_set_lock(&lock);
        reach(0);
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
}

static void test_lock(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (int i = 0; i < 2; i++) /* the second one fails */
        omp_test_lock(&lock);
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
}

static void nest_lock(void)
{
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    omp_destroy_nest_lock(&lock);
}

static void atomic(void)
{
    TEAM
    {
#pragma omp atomic
        reached[0]++;
    }
}

static void reduction(void)
{
    int sum = 0;
    TEAM
    {
#pragma omp for reduction(+ : sum)
        for (int i = 0; i < 2; i++)
            sum += i;
        STAY;
    }
    reached[0] = sum;
}

static void cancel_parallel(void)
{
    TEAM
    {
        if (INDEX == 0) {
#pragma omp cancel parallel
        }
#pragma omp barrier
        STAY;
    }
}

static void teams(void)
{
#pragma omp teams num_teams(2) thread_limit(1)
    work();
}

static void teams_parallel(void)
{
#pragma omp teams num_teams(1) thread_limit(2)
#pragma omp parallel num_threads(2)
    work();
}

HELPER void *of_a_pthread(void *argument)
{
    TEAM work();
    return argument;
}

static void pthread(void)
{
    pthread_t thread;
    TEAM work();
    pthread_create(&thread, NULL, of_a_pthread, NULL);
    pthread_join(thread, NULL);
}

static const struct construct constructs[] = {
    CONSTRUCT(parallel),
    CONSTRUCT(parallel_twice),
    CONSTRUCT(parallel_if0),
    CONSTRUCT(parallel_one),
    CONSTRUCT(parallel_resized),
    CONSTRUCT(nested),
    CONSTRUCT(nested_by_second),
    CONSTRUCT(nested_serialised),
    CONSTRUCT(barrier),
    CONSTRUCT(master),
    CONSTRUCT(for_static),
    CONSTRUCT(for_static_nowait),
    CONSTRUCT(for_dynamic),
    CONSTRUCT(for_dynamic_nowait),
    CONSTRUCT(for_guided),
    CONSTRUCT(parallel_for_dynamic),
    CONSTRUCT(ordered),
    CONSTRUCT(sections),
    CONSTRUCT(single),
    CONSTRUCT(single_by_second),
    CONSTRUCT(single_nowait),
    CONSTRUCT(single_copyprivate),
    CONSTRUCT(critical),
    CONSTRUCT(critical_twice),
    CONSTRUCT(lock),
    CONSTRUCT(test_lock),
    CONSTRUCT(nest_lock),
    CONSTRUCT(atomic),
    CONSTRUCT(reduction),
    CONSTRUCT(cancel_parallel),
    CONSTRUCT(teams),
    CONSTRUCT(teams_parallel),
    CONSTRUCT(pthread),
};

CONSTRUCTS_MAIN(constructs)
