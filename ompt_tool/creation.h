/* Creation contexts (BLAME_TASKS=creation): a task hangs below the context that created it.
 *
 * A context is a trie node: the creating task's own context, then its frames from its first to the call that
 * created the task. Nodes are interned, so memory is bounded by distinct contexts and not by tasks. A task
 * created where one of its creators was created (recursion) has that creator's context. The walk is done once
 * per path: later creations compare the return addresses on the stack with those of the walk
 * (docs/contexts.md). */
#ifndef BLAME_OMPT_TOOL_CREATION_H
#define BLAME_OMPT_TOOL_CREATION_H

#include <stdint.h>

#include <omp-tools.h>

struct thread;

/* The context of the task that the calling thread is creating, whose creator has the context `creator`; 0
 * when it cannot be had (counted in the ledger). frame and codeptr as in ompt_callback_task_create.
 * [owner] */
uint32_t creation_context(struct thread *thread, uint32_t creator, const ompt_frame_t *frame,
                          uintptr_t codeptr);

#endif
