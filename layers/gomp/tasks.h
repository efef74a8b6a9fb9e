/* What concerns tasks apart from their creation (tasks.c): dependences, detachable tasks. */
#ifndef BLAME_LAYERS_GOMP_TASKS_H
#define BLAME_LAYERS_GOMP_TASKS_H

#include "layers/gomp/provider.h"

/* Tells the dependences in libgomp's array. [owner] */
void task_tell_dependences(struct task *task, void **depend);

/* Notes the handle by which a detachable task will be completed. [any] */
void task_note_event(struct task *task, void *event);

/* The body of a detachable task has returned. Returns false if the task waits for its event: then whoever fulfils that
 * frees the record. [any] */
bool task_end_detachable(struct task *task);

/* Makes the record of a task that the current task creates, and tells it; NULL: no memory. `depend` is libgomp's
 * array, NULL without dependences. [owner] */
static inline __attribute__((always_inline)) struct task *task_create(struct thread *thread, int flags, void **depend,
                                                                      const void *code)
{
    struct task *creator = thread->task;
    struct task *task = task_new(thread, creator->region, flags);
    if (unlikely(!task))
        return NULL;
    TELL(task_create, &creator->data, &creator->frame, &task->data, flags, depend != NULL, code);
    if (unlikely(depend != NULL) && TOLD(dependences))
        task_tell_dependences(task, depend);
    return task;
}

/* Tells the begin of a task, whose body the caller is about to call. `frame` is that of the caller, which libgomp has
 * called. [owner] */
static inline __attribute__((always_inline)) void task_begin(struct thread *thread, struct task *task, void *frame)
{
    struct task *prior = thread->task;
    task->parent = prior;
    task->index = prior->index;
    task->frame.exit_frame.ptr = frame;
    thread_switch(thread, task);
    TELL(task_schedule, &prior->data, ompt_task_switch, &task->data);
    store_relaxed(&task->state, ompt_state_work_parallel);
}

/* Tells that the body has returned, and frees the record. `simple`: it is no detachable task, and could not be
 * discarded. What it needs it reads anew, and so the caller's frame is small. [owner] */
static inline __attribute__((always_inline)) void task_end(struct task *task, bool simple)
{
    struct thread *thread = thread_gomp;
    bool detached = !simple && load_relaxed(&task->event) != NULL;
    task->frame.exit_frame.ptr = NULL;
    TELL(task_schedule, &task->data, detached ? ompt_task_detach : ompt_task_complete, &task->parent->data);
    thread_switch(thread, task->parent);
    if (!simple)
        store_relaxed(&task->may_vanish, false);
    if (!detached || task_end_detachable(task))
        task_free(thread, task);
}

#endif
