/* Threads that come and go, several threads that each use OpenMP, and cancellation (OMP_CANCELLATION=true).
 */
#include <pthread.h>

#include "coverage.h"

static bool cancel_parallel(void)
{
    int before = 0, after = 0;
#pragma omp parallel num_threads(2)
    {
        int share = uneven(omp_get_thread_num());
#pragma omp atomic
        before += share;
        if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
        }
#pragma omp barrier
#pragma omp atomic
        after++;
    }
    return omp_get_cancellation() && before == 3 && after == 0;
}

static bool cancel_for(void)
{
    int count = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(monotonic : dynamic, 1)
        for (int i = 0; i < 1000; i++) {
            uneven(i);
#pragma omp atomic
            count++;
            if (i == 1) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
    }
    return omp_get_cancellation() && count >= 2 && count < 1000; /* 2, unless the second thread lacks a core */
}

static bool cancel_sections(void)
{
    int first = 0, second = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp sections
        {
#pragma omp section
            {
                first = uneven(0);
#pragma omp cancel sections
                first = 100;
            }
#pragma omp section
            {
#pragma omp cancellation point sections
                second = uneven(1);
            }
        }
    }
    return omp_get_cancellation() && first == 1 && (second == 2 || second == 0);
}

static bool cancel_taskgroup(void)
{
    int begun = 0, ended = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskgroup
        {
            for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(i) shared(begun, ended)
                {
#pragma omp atomic
                    begun++;
                    uneven(i == 0 ? 0 : 1);
                    if (begun > 1) {
#pragma omp cancel taskgroup
                    }
#pragma omp cancellation point taskgroup
#pragma omp atomic
                    ended++;
                }
            }
        }
    }
    return omp_get_cancellation() && begun >= 2 && begun < 100 && ended < begun;
}

static bool thread_churn(void)
{
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        omp_set_num_threads(1 + i % 4);
#pragma omp parallel reduction(+ : sum)
        sum++;
    }
    omp_set_num_threads(2);
#pragma omp parallel reduction(+ : sum)
    sum += uneven(omp_get_thread_num());
    return sum == 53;
}

/* Of its own: a compiler may keep a thread's number in the runtime, which a pause makes invalid, for a whole
 * function. */
NAMED static int one_region(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += uneven(omp_get_thread_num());
    return sum;
}

HELPER bool regions_and_pauses(omp_pause_resource_t how)
{
    int sum = 0, refused = 0;
    for (int i = 0; i < 3; i++) {
        sum += one_region();
        refused += omp_pause_resource_all(how) != 0;
    }
    return sum == 9 && refused == 0;
}

static bool pause_soft(void)
{
    return regions_and_pauses(omp_pause_soft);
}

static bool pause_hard(void)
{
    return regions_and_pauses(omp_pause_hard);
}

NAMED static void *of_a_pthread(void *result)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += uneven(omp_get_thread_num());
    *(int *)result = sum;
    return NULL;
}

static bool pthreads(void)
{
    pthread_t threads[2];
    int sums[2] = {0, 0};
    omp_set_num_threads(2); /* makes the runtime know this thread, which is busy until both have ended */
    double begin_s = clock_s();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, of_a_pthread, &sums[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    record_interval(INTERVAL_RUNTIME, "main", NULL, begin_s, clock_s());
    return sums[0] == 3 && sums[1] == 3;
}

static const struct construct constructs[] = {
    {"cancel_parallel", cancel_parallel, 0}, {"cancel_for", cancel_for, 0},
    {"cancel_sections", cancel_sections, 0}, {"cancel_taskgroup", cancel_taskgroup, 0},
    {"thread_churn", thread_churn, 4},       {"pause_soft", pause_soft, 0},
    {"pause_hard", pause_hard, 0},           {"pthreads", pthreads, 5},
};

COVERAGE_MAIN(constructs)
