/* What concerns tasks apart from their creation (tasks.c): running them, detachable ones, dependences. */
#ifndef BLAME_LAYERS_GOMP_TASKS_H
#define BLAME_LAYERS_GOMP_TASKS_H

#include "layers/gomp/provider.h"

/* Makes the record of a task that the current task creates, and tells it; NULL: no memory. `depend` is libgomp's
 * array, NULL without dependences. [owner] */
struct task *task_create(struct thread *thread, int flags, void **depend, const void *code);

/* Calls a task's body between the events of its begin and its end, and frees its record. `frame` is that of the
 * caller, which libgomp has called. [owner] */
void task_execute(struct thread *thread, struct task *task, outlined *body, void *argument, void *frame);

/* Notes the handle by which a detachable task will be completed. [any] */
void task_note_event(struct task *task, void *event);

#endif
