/* Phases wherever threads are: around a region, per thread inside one, around and inside tasks, around nested
 * regions, in a thread that OpenMP knows nothing of. Prints what was computed in each:
 *
 *     computed PHASE SECONDS      work of all threads inside it
 *     clocked PHASE CALLS SECONDS from begin to end, summed over its executions */
#include <pthread.h>

#include "analytic.h"
#include "blame.h"

enum { AROUND, OWN, TASKS, IN_TASK, NESTED, FOREIGN, PHASES };
static const char *const names[PHASES] = {"around", "own", "tasks", "in task", "nested", "foreign"};
static double computed_s[PHASES], clocked_s[PHASES];
static int calls[PHASES];

static void note(int phase, double computed, double clocked)
{
#pragma omp critical(note)
    {
        computed_s[phase] += computed;
        clocked_s[phase] += clocked;
        calls[phase] += clocked > 0;
    }
}

HELPER double compute(double seconds)
{
    double begin_s = clock_s();
    spin_until(begin_s + seconds);
    return clock_s() - begin_s;
}

NAMED static void in_region(void)
{
    blame_phase_begin("own");
    double seconds = compute(0.15);
    blame_phase_end("own");
    note(OWN, seconds, seconds);
    note(AROUND, seconds, 0);
}

NAMED static void around(void)
{
    blame_phase_begin("around");
    double begin_s = clock_s();
#pragma omp parallel num_threads(2)
    {
        note(AROUND, compute(0.15), 0);
        in_region();
    }
    double clocked = clock_s() - begin_s;
    blame_phase_end("around");
    note(AROUND, 0, clocked);
}

NAMED static void in_task(void)
{
    blame_phase_begin("in task");
    double seconds = compute(0.05);
    blame_phase_end("in task");
    note(IN_TASK, seconds, seconds);
    note(TASKS, seconds, 0);
}

NAMED static void tasks(void)
{
    blame_phase_begin("tasks");
    double begin_s = clock_s();
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task
        in_task();
    }
    double clocked = clock_s() - begin_s;
    blame_phase_end("tasks");
    note(TASKS, 0, clocked);
}

NAMED static void nested(void)
{
    blame_phase_begin("nested");
    double begin_s = clock_s();
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    note(NESTED, compute(0.15), 0);
    double clocked = clock_s() - begin_s;
    blame_phase_end("nested");
    note(NESTED, 0, clocked);
}

static void *foreign(void *argument)
{
    blame_phase_begin("foreign");
    double seconds = compute(0.2);
    blame_phase_end("foreign");
    note(FOREIGN, seconds, seconds);
    return argument;
}

int main(void)
{
    pthread_t thread;
    omp_set_max_active_levels(2);
    around();
    tasks();
    nested();
    if (pthread_create(&thread, NULL, foreign, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    for (int i = 0; i < PHASES; i++)
        printf("computed %s %.6f\nclocked %s %d %.6f\n", names[i], computed_s[i], names[i], calls[i], clocked_s[i]);
    return 0;
}
