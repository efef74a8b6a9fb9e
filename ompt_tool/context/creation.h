/* Creation contexts (BLAME_TASKS=creation): a task hangs below the context that created it.
 *
 * A context is a trie node: the creating task's own context, then its frames from its first to the call that
 * created the task. Nodes are interned, so memory is bounded by distinct contexts and not by tasks. A task
 * created where one of its creators was created (recursion) has that creator's context. The walk is done once
 * per path: later creations compare what lies on the stack with what the walk found (creation_memo.h). */
#ifndef BLAME_OMPT_TOOL_CONTEXT_CREATION_H
#define BLAME_OMPT_TOOL_CONTEXT_CREATION_H

#include <stdint.h>

#include <omp-tools.h>

struct thread;

/* What a task creation says of itself. */
struct creation {
    uint32_t creator;        /* the creating task's context */
    const ompt_data_t *task; /* this and the rest: as in ompt_callback_task_create */
    const ompt_frame_t *frame;
    int flags;
    uintptr_t codeptr;
};

/* The context of the task that the calling thread is creating; 0 when it cannot be had (counted in the
 * ledger). [owner] */
uint32_t creation_context(struct thread *thread, const struct creation *creation);

#endif
