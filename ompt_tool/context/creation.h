/* Creation contexts (BLAME_TASKS=creation): a task hangs below the context that created it.
 *
 * A context is a trie node: the creating task's own context, then its frames from its first to the call that
 * created the task. Nodes are interned, so memory is bounded by distinct contexts and not by tasks. A task
 * created where one of its creators was created (recursion) has that creator's context. The walk is done once
 * per path: later creations compare what lies on the stack with what the walk found (creation_memo.h). */
#ifndef BLAME_OMPT_TOOL_CONTEXT_CREATION_H
#define BLAME_OMPT_TOOL_CONTEXT_CREATION_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

#include "base/atomics.h"
#include "ompt_tool/context/creation_memo.h"
#include "ompt_tool/session/thread.h"

/* What a task creation says of itself. */
struct creation {
    uint32_t creator;        /* the creating task's context */
    const ompt_data_t *task; /* this and the rest: as in ompt_callback_task_create */
    const ompt_frame_t *frame;
    int flags;
    uintptr_t codeptr;
};

/* Whether the program calls the undeferred task's code itself: the context is its creator's then. [owner] */
bool creation_is_called_by_program(struct thread *thread, const struct creation *creation);

/* The context of the task that the calling thread is creating, and the runtime will call; 0 when it cannot be had (counted in the
 * ledger). [owner] */
uint32_t creation_context_slowly(struct thread *thread, const struct creation *creation);

/* True if the key is of the calling thread's stack, below which (and the key) the creating task's part lies. [owner] */
static inline bool creation_is_on_stack(const struct thread *thread, const struct creation_key *key)
{
    return (key->low | key->high) % sizeof(uintptr_t) == 0 && key->low >= (uintptr_t)key &&
           key->high <= thread->unwinder.own_stack_high && key->high - key->low <= INT32_MAX;
}

/* The same of any. Common is a path that was walked before. [owner] */
static inline uint32_t creation_context(struct thread *thread, const struct creation *creation)
{
    const ompt_frame_t *frame = creation->frame;
    if (unlikely(creation->flags & ompt_task_undeferred) && creation_is_called_by_program(thread, creation))
        return creation->creator;
    if (likely(thread->memos) && likely(frame) && likely(!thread->probes)) {
        uintptr_t high = (uintptr_t)frame->exit_frame.ptr;
        struct creation_key key;
        key.creator = creation->creator;
        key.codeptr = creation->codeptr;
        key.low = (uintptr_t)load_relaxed(&frame->enter_frame.ptr); /* by itself: the runtime has just stored it */
        key.high = likely(high) ? high : thread->unwinder.own_stack_high;
        uint32_t context = creation_is_on_stack(thread, &key) ? creation_memo_find(thread->memos, &key) : 0;
        if (likely(context))
            return context;
    }
    return creation_context_slowly(thread, creation);
}

#endif
