/* A detached task, in a program of its own: libomp does not export omp_fulfill_event to programs that GCC
 * built. */
#include "coverage.h"

static int done[3];

/* The task's body ends at once; it is complete when the other thread says so. */
static bool task_detach(void)
{
    omp_event_handle_t event = (omp_event_handle_t)0;
    int posted = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp master
        {
#pragma omp task detach(event) shared(posted)
            {
                done[0] = 1;
                __atomic_store_n(&posted, 1, __ATOMIC_RELEASE);
            }
#pragma omp taskwait
            done[1] = done[2] == 3 ? 2 : 0;
        }
        if (omp_get_thread_num() == 1) {
            double begin_s = clock_s();
            while (!__atomic_load_n(&posted, __ATOMIC_ACQUIRE))
                spin_until(clock_s() + 0.0003);
            record_interval(INTERVAL_RUNTIME, "task_detach", NULL, begin_s, clock_s());
            uneven(0);
            done[2] = 3;
            omp_fulfill_event(event);
        }
    }
    return done[0] == 1 && done[1] == 2 && done[2] == 3;
}

static const struct construct constructs[] = {
    {"task_detach", task_detach, 0},
};

COVERAGE_MAIN(constructs)
