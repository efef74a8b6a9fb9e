/* The tasks that are nested on a thread's own stack, innermost last: what a walk needs to know of the
 * runtime, noted by the thread's callbacks, where the runtime is consistent. The handler reads it and asks
 * the runtime nothing (docs/call-paths.md). The chain of creators, which the runtime could give, is another
 * one: theirs may be other threads' stacks. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_LEVELS_H
#define BLAME_OMPT_TOOL_CONTEXT_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

#define LEVEL_IMPLICIT 1u
#define LEVEL_PRIMARY  2u /* the region's first thread: it began the region */
#define LEVEL_INITIAL  4u
#define LEVEL_PROBED   8u /* probes.c knows its exit address */
#define LEVEL_FLAGS    15u

#define LEVEL_NO_EXIT 1u

/* A level as walks use it. */
struct task_level {
    uintptr_t exit; /* inside the runtime's frame that called the task's code; 0: none */
    struct region *region;
    uint64_t data; /* the task's own word, as far as it does not change */
    int kind;      /* ompt_task_initial, ompt_task_implicit or ompt_task_explicit */
    bool primary;
};

/* No task is known. [owner] */
void levels_clear(struct thread *thread);

/* Reads a level of the thread's; false for the one that stands for no task. [handler] */
bool levels_read(const struct thread *thread, const struct level *level, struct task_level *read);

/* The same without its exit address. [handler] */
bool levels_describe(const struct thread *thread, const struct level *level, struct task_level *read);

/* The region of the thread's current task, NULL outside all. [handler] */
struct region *levels_region(const struct thread *thread);

/* Drops what is nested in the task on this stack and has ended without an event (parts of untied tasks);
 * false when the task is not known. [owner] */
bool levels_return_to(struct thread *thread, const ompt_data_t *task);

/* The task ends, and no other goes on: false when it is not known. [owner] */
bool levels_end_task(struct thread *thread, const ompt_data_t *task);

/* Whether a task is over, for this thread at least, with such a status; a status of a later standard's is a switch. [any] */
bool levels_status_ends(ompt_task_status_t status);

/* Makes the task, which the runtime gives as the current one, the innermost level. [owner] */
void levels_find(struct thread *thread, ompt_data_t *task);

/* task_schedule, when the innermost level is not the prior task, or there is no room. [owner] */
void levels_schedule_slowly(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next);

/* The task encounters a region. [owner] */
void levels_fork(struct thread *thread, ompt_data_t *task, const ompt_frame_t *frame);

/* An initial task begins, or an implicit one without room. [owner] */
void levels_begin_slowly(struct thread *thread, ompt_data_t *task, struct region *region, unsigned thread_num,
                         int flags);

/* An implicit task ends that is not the innermost level, or had no room. [owner] */
struct region *levels_end_slowly(struct thread *thread);

/* The wait behind a join is over. A thread that did not begin the region may not touch it any more; it is on
 * its way into the next one, which is the runtime's current one already, and cannot end without it. [owner] */
void levels_leave(struct thread *thread);

/* The region that the innermost task encountered is over. [owner] */
static inline void levels_join(struct thread *thread)
{
    store_relaxed(&thread->level->exit, 0);
}

/* task_schedule. False: levels_schedule_slowly() has to be called. [owner] */
static inline bool levels_schedule(struct thread *thread, const ompt_data_t *prior, ompt_task_status_t status,
                                   ompt_data_t *next)
{
    struct level *level = thread->level;
    if (unlikely(level->task != prior))
        return false;
    if (level[-1].task == next) {
        store_relaxed(&thread->level, level - 1);
        return true;
    }
    if (unlikely(status != ompt_task_switch || level == thread->last_level))
        return false;
    level[1].task = next;
    level[1].word = next->value;
    level[1].team = 0;
    signal_fence(); /* the handler finds the level when it is complete */
    store_relaxed(&thread->level, level + 1);
    return true;
}

/* An implicit or initial task begins. [owner] */
static inline void levels_begin(struct thread *thread, ompt_data_t *task, struct region *region, unsigned thread_num,
                                int flags)
{
    struct level *level = thread->level;
    if (unlikely((flags & ompt_task_initial) || level == thread->last_level)) {
        levels_begin_slowly(thread, task, region, thread_num, flags);
        return;
    }
    uintptr_t team = (uintptr_t)region | LEVEL_IMPLICIT | LEVEL_PRIMARY;
    if (thread_num != 0 && !level->exit) { /* a team's other threads begin at the stack's begin */
        team = (uintptr_t)region | LEVEL_IMPLICIT;
        level = thread->last_level - LEVELS;
        store_relaxed(&thread->level, level); /* what is above is no level while it is written */
        signal_fence();
    }
    level[1] = (struct level){.task = task, .team = team}; /* nobody creates it: no context in its word */
    signal_fence();
    store_relaxed(&thread->level, level + 1);
}

/* The same where nobody asks for the region: false, and nothing done, if it is not that simple. [owner] */
static inline bool levels_end_simply(struct thread *thread)
{
    struct level *level = thread->level;
    if (unlikely(!(level->team & LEVEL_IMPLICIT) || thread->levels_beyond || thread->probes))
        return false;
    store_relaxed(&thread->level, level - 1);
    return true;
}

/* An implicit task of the region's first thread ends; the region. [owner] */
static inline struct region *levels_end(struct thread *thread)
{
    struct level *level = thread->level;
    if (unlikely(!(level->team & LEVEL_IMPLICIT) || thread->levels_beyond))
        return levels_end_slowly(thread);
    store_relaxed(&thread->level, level - 1);
    return (struct region *)(level->team & ~(uintptr_t)LEVEL_FLAGS);
}

#endif
