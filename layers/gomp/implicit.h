/* The end of an implicit task. */
#ifndef BLAME_LAYERS_GOMP_IMPLICIT_H
#define BLAME_LAYERS_GOMP_IMPLICIT_H

#include "layers/gomp/provider.h"

/* Tells the end of the wait for the region's end, and of the task. The region may be over: it has no data, and for a
 * worker its size is unknown. [owner] */
static inline __attribute__((always_inline)) void implicit_end(struct task *task, unsigned size, const void *code)
{
    store_relaxed(&task->state, ompt_state_overhead);
    TELL(sync_region_wait, ompt_sync_region_barrier_implicit_parallel, ompt_scope_end, NULL, &task->data, code);
    TELL(sync_region, ompt_sync_region_barrier_implicit_parallel, ompt_scope_end, NULL, &task->data, code);
    TELL(implicit_task, ompt_scope_end, NULL, &task->data, size, (unsigned)task->index, ompt_task_implicit);
}

/* Tells what is left of the last region in a thread of libgomp's pool, and frees the record of its task. A tool that
 * asks for the current region meanwhile gets `next`, the one that the thread enters: the last one may be over, and its
 * record a region's of other threads. [owner] */
void implicit_tell_late_end(struct thread *thread, struct region *next);

#endif
