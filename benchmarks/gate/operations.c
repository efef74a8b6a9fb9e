/* The OpenMP operations whose instructions gate.py counts on GCC's runtime, alone and with an empty tool. Each is repeated in a
 * team of one thread, and callgrind writes the counts under its name. */
#include <stdio.h>

#include <omp.h>
#include <valgrind/callgrind.h>

enum { WARM_UP = 100, REPEATS = 1000, TASKS = 50 /* before each wait for them: fewer than libgomp runs at once */ };

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;

static inline void nothing(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Defines a function that repeats the statements. */
#define OPERATION(name, ...)                                                                                           \
    static void name(int count)                                                                                        \
    {                                                                                                                  \
        for (int i = 0; i < count; i++) {                                                                              \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

OPERATION(set_lock, omp_set_lock(&lock); omp_unset_lock(&lock);)
OPERATION(set_nest_lock, omp_set_nest_lock(&nest_lock); omp_unset_nest_lock(&nest_lock);)
OPERATION(init_lock, omp_destroy_lock(&lock); omp_init_lock(&lock);)
OPERATION(critical, _Pragma("omp critical(name)") nothing();)
OPERATION(single, _Pragma("omp single nowait") nothing();)
OPERATION(barrier, _Pragma("omp barrier"))
OPERATION(taskwait, _Pragma("omp taskwait"))
OPERATION(taskgroup, _Pragma("omp taskgroup") nothing();)
OPERATION(task_at_once, _Pragma("omp task if (0)") nothing();)
OPERATION(task_with_dependence, _Pragma("omp task depend(out : lock)") nothing(); _Pragma("omp taskwait"))
OPERATION(taskloop, _Pragma("omp taskloop num_tasks(1)") for (int j = 0; j < 1; j++) nothing();)
OPERATION(loop, _Pragma("omp for schedule(dynamic) nowait") for (int j = 0; j < 1; j++) nothing();)
OPERATION(region, _Pragma("omp parallel num_threads(1)") nothing();)

static void task(int count)
{
    for (int i = 0; i < count; i++) {
#pragma omp task
        nothing();
        if (i % TASKS == TASKS - 1) {
#pragma omp taskwait
        }
    }
}

static void chunk(int count)
{
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < count; i++)
        nothing();
}

static void operation(const char *name, void (*repeat)(int count))
{
    char label[64];
    snprintf(label, sizeof(label), "%s:%d", name, REPEATS);
    repeat(WARM_UP);
    CALLGRIND_ZERO_STATS;
    repeat(REPEATS);
    CALLGRIND_DUMP_STATS_AT(label);
}

int main(void)
{
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    operation("region", region);
#pragma omp parallel num_threads(1)
    {
        operation("lock, set and unset", set_lock);
        operation("nestable lock, set and unset", set_nest_lock);
        operation("lock, destroy and init", init_lock);
        operation("critical", critical);
        operation("single", single);
        operation("barrier", barrier);
        operation("taskwait", taskwait);
        operation("taskgroup", taskgroup);
        operation("task", task);
        operation("task with if(0)", task_at_once);
        operation("task with depend, and taskwait", task_with_dependence);
        operation("taskloop of a task", taskloop);
        operation("dynamic loop of an iteration", loop);
        operation("chunk of a dynamic loop", chunk);
    }
    return 0;
}
