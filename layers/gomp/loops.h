/* Loops that libgomp divides among threads. */
#ifndef BLAME_LAYERS_GOMP_LOOPS_H
#define BLAME_LAYERS_GOMP_LOOPS_H

#include "layers/gomp/provider.h"

/* The number of iterations of a loop whose end is not part of it. Most loops need no division. [any] */
static inline uint64_t loop_iterations(long start, long end, long step)
{
    if (likely(step == 1))
        return start < end ? (uint64_t)end - (uint64_t)start : 0;
    if (step > 0)
        return start < end ? ((uint64_t)end - (uint64_t)start + (uint64_t)step - 1) / (uint64_t)step : 0;
    if (step < 0)
        return start > end ? ((uint64_t)start - (uint64_t)end - (uint64_t)step - 1) / -(uint64_t)step : 0;
    return 0;
}

/* For loops over unsigned long long, the step of one that counts down is negative, as an unsigned number. [any] */
static inline uint64_t loop_ull_iterations(bool up, ull start, ull end, ull step)
{
    if (likely(up && step == 1))
        return start < end ? end - start : 0;
    if (up)
        return start < end ? (end - start + step - 1) / step : 0;
    return start > end ? (start - end - step - 1) / -step : 0;
}

/* Returns the kind of work for schedule(runtime). [any] */
int loop_kind_at_run_time(void);

/* Tells the begin of work in the current task, which work_end() ends. [owner] */
static inline void work_begin(struct thread *thread, int work, uint64_t count, int64_t step, const void *code)
{
    struct task *task = thread->task;
    task->work = work;
    task->step = step;
    TELL(work, (ompt_work_t)work, ompt_scope_begin, &task->region->data, &task->data, count, code);
}

/* Reports the end of the construct that the thread executes. [owner] */
static inline void work_end(struct thread *thread, const void *code)
{
    struct task *task = thread->task;
    int work = task->work;
    if (!work)
        return;
    task->work = 0;
    TELL(work, (ompt_work_t)work, ompt_scope_end, &task->region->data, &task->data, 0, code);
}

/* Notes the loop of a combined construct: each thread tells its begin with that of its implicit task. [owner] */
static inline void loop_of_region(struct region *region, int work, long start, long end, long step)
{
    region->work = work;
    region->step = step;
    region->iterations = loop_iterations(start, end, step);
}

#define COMBINED_SECTIONS                                                                                              \
    (region ? (region->work = ompt_work_sections, region->step = 1, region->iterations = count, (void)0) : (void)0)

#endif
