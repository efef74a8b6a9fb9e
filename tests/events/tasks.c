/* Tasks: who executes them, where, and how they are waited for. */
#include "team.h"

/* The creator executes it where it waits. */
static void task_taskwait(void)
{
    BY_FIRST
    {
#pragma omp task
        work();
#pragma omp taskwait
    }
}

/* The other thread executes it, in the barrier. */
static void task_elsewhere(void)
{
    TEAM
    {
        if (INDEX == 0) {
#pragma omp task
            reach(0);
            await(0);
        }
        STAY;
    }
}

static void task_at_barrier(void)
{
    TEAM
    {
        if (INDEX == 0) {
#pragma omp task
            reach(0);
        } else {
            await(0);
        }
#pragma omp barrier
        STAY;
    }
}

/* The creator waits in vain: the other one has the task, and creates one itself, which it executes where it
 * waits. */
static void task_in_task(void)
{
    TEAM
    {
        if (INDEX == 0) {
#pragma omp task
            {
                reach(0);
#pragma omp task
                reach(1);
#pragma omp taskwait
            }
            await(1);
#pragma omp taskwait
        }
        STAY;
    }
}

static void task_outside(void)
{
#pragma omp task
    work();
#pragma omp taskwait
}

static void task_if0(void)
{
    BY_FIRST
    {
#pragma omp task if (0)
        work();
    }
}

static void task_if0_taskwait(void)
{
    BY_FIRST
    {
#pragma omp task if (0)
        {
#pragma omp task
            work();
#pragma omp taskwait
        }
    }
}

static void task_final(void)
{
    BY_FIRST
    {
#pragma omp task final(1)
        {
#pragma omp task
            work();
        }
#pragma omp taskwait
    }
}

static void task_untied(void)
{
    BY_FIRST
    {
#pragma omp task untied
        {
            work();
#pragma omp taskyield
            work();
        }
#pragma omp taskwait
    }
}

static void taskyield(void)
{
    BY_FIRST
    {
#pragma omp task
        work();
#pragma omp taskyield
#pragma omp taskwait
    }
}

static void taskgroup(void)
{
    BY_FIRST
    {
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp task
                work();
            }
        }
    }
}

static void taskgroup_reduction(void)
{
    int sum = 0;
    BY_FIRST
    {
#pragma omp taskgroup task_reduction(+ : sum)
        {
#pragma omp task in_reduction(+ : sum)
            sum++;
        }
    }
}

static void taskloop(void)
{
    BY_FIRST
    {
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < 2; i++)
            work();
    }
}

static void taskloop_nogroup(void)
{
    BY_FIRST
    {
#pragma omp taskloop num_tasks(2) nogroup
        for (int i = 0; i < 2; i++)
            work();
#pragma omp taskwait
    }
}

static void task_depend(void)
{
    int link = 0;
    BY_FIRST
    {
#pragma omp task depend(out : link) shared(link)
        link++;
#pragma omp task depend(in : link) shared(link)
        reached[0] = link;
#pragma omp taskwait
    }
}

static void taskwait_depend(void)
{
    int link = 0;
    BY_FIRST
    {
#pragma omp task depend(out : link) shared(link)
        link++;
#pragma omp taskwait depend(in : link)
    }
}

/* The last one created is the first one executed. */
static void cancel_taskgroup(void)
{
    BY_FIRST
    {
#pragma omp taskgroup
        {
#pragma omp task
            work();
#pragma omp task
            {
#pragma omp cancel taskgroup
            }
        }
    }
}

static const struct construct constructs[] = {
    CONSTRUCT(task_taskwait),     CONSTRUCT(task_elsewhere),   CONSTRUCT(task_at_barrier),
    CONSTRUCT(task_in_task),      CONSTRUCT(task_outside),     CONSTRUCT(task_if0),
    CONSTRUCT(task_if0_taskwait), CONSTRUCT(task_final),       CONSTRUCT(task_untied),
    CONSTRUCT(taskyield),         CONSTRUCT(taskgroup),        CONSTRUCT(taskgroup_reduction),
    CONSTRUCT(taskloop),          CONSTRUCT(taskloop_nogroup), CONSTRUCT(task_depend),
    CONSTRUCT(taskwait_depend),   CONSTRUCT(cancel_taskgroup),
};

CONSTRUCTS_MAIN(constructs)
