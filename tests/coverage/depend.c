/* What OpenMP 5 added to tasks: dependences that are objects, sets or iterated over, reductions of a region's
 * tasks, and tasks inside teams. A thread without a task waits for slow_share(). */
#include "coverage.h"

#define CREATE_BY_ONE _Pragma("omp parallel num_threads(2)") _Pragma("omp single")

static bool depend_iterator(void)
{
    int done[2] = {0, 0}, sum = 0;
    CREATE_BY_ONE
    {
#pragma omp task depend(out : done[0])
        done[0] = uneven(0);
#pragma omp task depend(out : done[1])
        done[1] = uneven(1);
#pragma omp task depend(iterator(i = 0 : 2), in : done[i])
        sum = done[0] + done[1];
    }
    return sum == 3;
}

static bool depend_object(void)
{
    int done = 0, result = 0;
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : done)
    CREATE_BY_ONE
    {
#pragma omp task depend(out : done)
        done = uneven(0);
#pragma omp task depend(depobj : object)
        result = done;
        uneven(1);
    }
#pragma omp depobj(object) destroy
    return result == 1;
}

static bool depend_mutexinoutset(void)
{
    int done = 0, sum = 0;
    CREATE_BY_ONE
    {
#pragma omp task depend(out : done)
        done = 1;
#pragma omp task depend(mutexinoutset : done) /* one after the other, in any order */
        sum += uneven(0);
#pragma omp task depend(mutexinoutset : done)
        sum += uneven(1);
    }
    return sum == 3;
}

static bool reduction_task(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(task, + : sum)
#pragma omp single nowait
    {
#pragma omp task in_reduction(+ : sum)
        sum += uneven(0);
#pragma omp task in_reduction(+ : sum)
        sum += uneven(1);
    }
    return sum == 3;
}

static bool teams_tasks(void)
{
    int done[2] = {0, 0};
#pragma omp teams num_teams(1) thread_limit(2) shared(done)
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        done[0] = uneven(0);
#pragma omp task
        done[1] = uneven(1);
    }
    return done[0] == 1 && done[1] == 2;
}

static const struct construct constructs[] = {
    {"depend_iterator", depend_iterator, 0},
    {"depend_object", depend_object, 0},
    {"depend_mutexinoutset", depend_mutexinoutset, 0},
    {"reduction_task", reduction_task, 0},
    {"teams_tasks", teams_tasks, 0},
};

COVERAGE_MAIN(constructs)
