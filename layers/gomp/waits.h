/* The events around a wait for other threads or for tasks. */
#ifndef BLAME_LAYERS_GOMP_WAITS_H
#define BLAME_LAYERS_GOMP_WAITS_H

#include "layers/gomp/provider.h"

/* Returns the state of a thread in such a wait. [any] */
static inline ompt_state_t wait_state_of(ompt_sync_region_t kind)
{
    switch (kind) {
    case ompt_sync_region_barrier_explicit:
        return ompt_state_wait_barrier_explicit;
    case ompt_sync_region_barrier_implementation:
        return ompt_state_wait_barrier_implementation;
    case ompt_sync_region_taskwait:
        return ompt_state_wait_taskwait;
    case ompt_sync_region_taskgroup:
        return ompt_state_wait_taskgroup;
    case ompt_sync_region_barrier_implicit_workshare:
        return ompt_state_wait_barrier_implicit_workshare;
    case ompt_sync_region_barrier_implicit_parallel:
        return ompt_state_wait_barrier_implicit_parallel;
    default:
        return ompt_state_overhead;
    }
}

/* A wait that is under way: what its end needs. */
struct wait {
    ompt_sync_region_t kind;
    int state; /* of the task before it */
    struct task *task;
};

/* Tells the begin of a wait inside a synchronising region that has begun. These functions are part of an entry point:
 * CODE and FRAME are its. [owner] */
static inline __attribute__((always_inline)) struct wait wait_begin_inner(struct thread *thread,
                                                                          ompt_sync_region_t kind)
{
    struct task *task = thread->task;
    struct wait wait = {kind, task->state, task};
    task_enter_runtime(task, FRAME);
    TELL(sync_region_wait, kind, ompt_scope_begin, &task->region->data, &task->data, CODE);
    store_relaxed(&task->state, (int)wait_state_of(kind));
    return wait;
}

/* Ends what wait_begin_inner() has begun. [owner] */
static inline __attribute__((always_inline)) void wait_end_inner(const struct wait *wait)
{
    struct task *task = wait->task;
    store_relaxed(&task->state, wait->state);
    TELL(sync_region_wait, wait->kind, ompt_scope_end, &task->region->data, &task->data, CODE);
    task_leave_runtime(task);
}

/* The same with the begin and the end of the synchronising region. [owner] */
static inline __attribute__((always_inline)) struct wait wait_begin(struct thread *thread, ompt_sync_region_t kind)
{
    struct task *task = thread->task;
    TELL(sync_region, kind, ompt_scope_begin, &task->region->data, &task->data, CODE);
    return wait_begin_inner(thread, kind);
}

/* Ends what wait_begin() has begun. [owner] */
static inline __attribute__((always_inline)) void wait_end(const struct wait *wait)
{
    struct task *task = wait->task;
    wait_end_inner(wait);
    TELL(sync_region, wait->kind, ompt_scope_end, &task->region->data, &task->data, CODE);
}

#endif
