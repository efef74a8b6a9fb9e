/* Creation contexts (BLAME_TASKS=creation): a task appears below the context that created it.
 *
 * A creation context is a node of the trie (capture.h). Its path is the context of the creating task,
 * followed by that task's frames from the first one to the call that created the new task. Equal paths share
 * one node, so memory is bounded by the number of different contexts, not by the number of tasks. If a task
 * is created by the same call as one of its creators (recursion), it gets that creator's context. Each path
 * is walked only once; later creations compare the stack with the result of the walk (creation_memo.h). */
#ifndef BLAME_OMPT_TOOL_CONTEXT_CREATION_H
#define BLAME_OMPT_TOOL_CONTEXT_CREATION_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

#include "base/atomics.h"
#include "ompt_tool/context/creation_memo.h"
#include "ompt_tool/session/thread.h"

/* A task creation, as the runtime reports it. */
struct creation {
    uint32_t creator;        /* trie node of the creating task's context */
    const ompt_data_t *task; /* this and the following fields are arguments of ompt_callback_task_create */
    const ompt_frame_t *frame;
    int flags;
    uintptr_t codeptr;
};

/* Returns true if the program itself calls the code of the undeferred task. Such a task has the context of
 * its creator. [owner] */
bool creation_is_called_by_program(struct thread *thread, const struct creation *creation);

/* Returns the context of the task that the calling thread is creating and whose code the runtime will call.
 * If the context cannot be captured, counts the loss in the ledger and returns 0. [owner] */
uint32_t creation_context_slowly(struct thread *thread, const struct creation *creation);

/* Returns true if key->low and key->high are on the calling thread's stack, above the key itself. [owner] */
static inline bool creation_is_on_stack(const struct thread *thread, const struct creation_key *key)
{
    return (key->low | key->high) % sizeof(uintptr_t) == 0 && key->low >= (uintptr_t)key &&
           key->high <= thread->unwinder.own_stack_high && key->high - key->low <= INT32_MAX;
}

/* Returns the context of the task that the calling thread is creating. This is fast if the same path has been
 * walked before. [owner] */
static inline uint32_t creation_context(struct thread *thread, const struct creation *creation)
{
    const ompt_frame_t *frame = creation->frame;
    if (unlikely(creation->flags & ompt_task_undeferred) && creation_is_called_by_program(thread, creation))
        return creation->creator;
    if (likely(thread->creation.memos) && likely(frame) && likely(!thread->probes)) {
        uintptr_t high = (uintptr_t)frame->exit_frame.ptr;
        struct creation_key key;
        key.creator = creation->creator;
        key.codeptr = creation->codeptr;
        /* loaded as one word, because the runtime has just stored this word */
        key.low = (uintptr_t)load_relaxed(&frame->enter_frame.ptr);
        key.high = likely(high) ? high : thread->unwinder.own_stack_high;
        uint32_t context = creation_is_on_stack(thread, &key) ? creation_memo_find(thread->creation.memos, &key) : 0;
        if (likely(context))
            return context;
    }
    return creation_context_slowly(thread, creation);
}

#endif
