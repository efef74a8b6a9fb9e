/* Tasks: how they are created, ordered, waited for and grouped. A thread without a task waits for
 * slow_share(). */
#include "coverage.h"

/* One thread creates, two execute. */
#define CREATE_BY_ONE _Pragma("omp parallel num_threads(2)") _Pragma("omp single")

static int done[8];

static bool all_done(int count)
{
    for (int i = 0; i < count; i++)
        if (done[i] != i + 1)
            return false;
    return true;
}

static bool task_tied(void)
{
    CREATE_BY_ONE
    {
#pragma omp task
        done[0] = uneven(0);
#pragma omp task
        done[1] = uneven(1);
    }
    return all_done(2);
}

static bool task_untied(void)
{
    CREATE_BY_ONE
    {
#pragma omp task untied
        {
            fast_share();
#pragma omp taskyield
            done[0] = uneven(0);
        }
#pragma omp task untied
        done[1] = uneven(1);
    }
    return all_done(2);
}

static bool task_if0(void)
{
    CREATE_BY_ONE
    {
#pragma omp task if (0)
        done[0] = uneven(0);
        done[1] = done[0] == 1 ? 2 : 0; /* an undeferred task is over here */
    }
    return all_done(2);
}

static bool task_final(void)
{
    CREATE_BY_ONE
    {
#pragma omp task final(1)
        {
#pragma omp task
            done[0] = uneven(0) + !omp_in_final();
            done[1] = done[0] == 1 ? 2 : 0; /* an included task is over here */
        }
    }
    return all_done(2);
}

static bool task_mergeable(void)
{
    CREATE_BY_ONE
    {
#pragma omp task mergeable if (0)
        done[0] = uneven(0);
#pragma omp task mergeable
        done[1] = uneven(1);
    }
    return all_done(2);
}

static bool task_priority(void)
{
    CREATE_BY_ONE
    {
#pragma omp task priority(1)
        done[1] = uneven(1);
#pragma omp task priority(5)
        done[0] = uneven(0);
    }
    return all_done(2) && omp_get_max_task_priority() == 5;
}

static bool task_depend(void)
{
    int link = 0;
    CREATE_BY_ONE
    {
#pragma omp task depend(out : link)
        link = uneven(1);
#pragma omp task depend(inout : link)
        link = link == 2 ? uneven(0) : 0;
#pragma omp task depend(in : link)
        done[0] = link;
    }
    return all_done(1);
}

static bool taskloop_grainsize(void)
{
    CREATE_BY_ONE
    {
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < 2; i++)
            done[i] = uneven(i);
    }
    return all_done(2);
}

static bool taskloop_num_tasks(void)
{
    CREATE_BY_ONE
    {
#pragma omp taskloop num_tasks(2) nogroup
        for (int i = 0; i < 4; i++)
            done[i] = uneven(i);
    }
    return all_done(4);
}

static bool taskloop_reduction(void)
{
    int sum = 0;
    CREATE_BY_ONE
    {
#pragma omp taskloop grainsize(1) reduction(+ : sum)
        for (int i = 0; i < 2; i++)
            sum += uneven(i);
    }
    return sum == 3;
}

static bool taskwait(void)
{
    CREATE_BY_ONE
    {
#pragma omp task
        done[0] = uneven(0);
#pragma omp task
        done[1] = uneven(1);
#pragma omp taskwait
        done[2] = done[0] == 1 && done[1] == 2 ? 3 : 0;
    }
    return all_done(3);
}

static bool taskwait_depend(void)
{
    int link = 0;
    CREATE_BY_ONE
    {
#pragma omp task depend(out : link) shared(link)
        link = uneven(0);
#pragma omp task
        done[1] = uneven(1);
#pragma omp taskwait depend(in : link)
        done[0] = link;
    }
    return all_done(2);
}

static bool taskgroup(void)
{
    CREATE_BY_ONE
    {
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp task
                done[0] = uneven(0);
                done[1] = uneven(1);
            }
        }
        done[2] = done[0] == 1 && done[1] == 2 ? 3 : 0;
    }
    return all_done(3);
}

static bool taskgroup_reduction(void)
{
    int sum = 0;
    CREATE_BY_ONE
    {
#pragma omp taskgroup task_reduction(+ : sum)
        {
            for (int i = 0; i < 2; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
                sum += uneven(i);
            }
        }
        done[0] = sum == 3;
    }
    return all_done(1) && sum == 3;
}

static bool taskyield(void)
{
    CREATE_BY_ONE
    {
#pragma omp task
        {
#pragma omp taskyield
            done[0] = uneven(0);
        }
#pragma omp task
        {
            done[1] = uneven(1);
#pragma omp taskyield
        }
    }
    return all_done(2);
}

static const struct construct constructs[] = {
    {"task_tied", task_tied, 0},
    {"task_untied", task_untied, 0},
    {"task_if0", task_if0, 0},
    {"task_final", task_final, 0},
    {"task_mergeable", task_mergeable, 0},
    {"task_priority", task_priority, 0},
    {"task_depend", task_depend, 0},
    {"taskloop_grainsize", taskloop_grainsize, 0},
    {"taskloop_num_tasks", taskloop_num_tasks, 0},
    {"taskloop_reduction", taskloop_reduction, 0},
    {"taskwait", taskwait, 0},
    {"taskwait_depend", taskwait_depend, 0},
    {"taskgroup", taskgroup, 0},
    {"taskgroup_reduction", taskgroup_reduction, 0},
    {"taskyield", taskyield, 0},
};

COVERAGE_MAIN(constructs)
