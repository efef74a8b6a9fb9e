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

/* Calls a task's body between the events of its begin and its end, and frees its record. `frame` is that of the
 * caller, which libgomp has called; `may_detach` is false if the task cannot be a detachable one. [owner] */
static inline __attribute__((always_inline)) void task_execute(struct thread *thread, struct task *task, outlined *body,
                                                               void *argument, void *frame, bool may_detach)
{
    struct task *prior = thread->task;
    int state = thread->state;
    task->parent = prior;
    task->index = prior->index;
    task->frame.exit_frame.ptr = frame;
    thread_switch(thread, task);
    TELL(task_schedule, &prior->data, ompt_task_switch, &task->data);
    store_relaxed(&thread->state, ompt_state_work_parallel);
    body(argument);
    store_relaxed(&thread->state, state);
    task->frame.exit_frame.ptr = NULL;
    bool detached = may_detach && unlikely(load_relaxed(&task->event) != NULL);
    TELL(task_schedule, &task->data, detached ? ompt_task_detach : ompt_task_complete, &prior->data);
    thread_switch(thread, prior);
    if (likely(!detached) || task_end_detachable(task))
        task_free(thread, task);
}

#endif
