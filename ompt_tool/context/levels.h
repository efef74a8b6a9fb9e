/* The tasks that are nested on a thread's own stack, innermost last: what a walk needs to know of the
 * runtime. The thread's callbacks note it while the runtime is consistent. The handler only reads it and
 * never calls the runtime (docs/call-paths.md). The runtime could give the chain of creators, but that is a
 * different chain: creators may be on other threads' stacks. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_LEVELS_H
#define BLAME_OMPT_TOOL_CONTEXT_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

#define LEVEL_IMPLICIT 1u
#define LEVEL_PRIMARY  2u /* the region's first thread, which began the region */
#define LEVEL_INITIAL  4u
#define LEVEL_PROBED   8u /* probes.c knows its exit address */
#define LEVEL_FLAGS    15u

#define LEVEL_NO_EXIT 1u

/* A level as walks use it. */
struct task_level {
    uintptr_t exit; /* address inside the runtime's frame that called the task's code; 0: none */
    struct region *region;
    uint64_t data; /* the constant part of the task's own word */
    int kind;      /* ompt_task_initial, ompt_task_implicit or ompt_task_explicit */
    bool primary;
};

/* Forgets all tasks. [owner] */
void levels_clear(struct thread *thread);

/* Reads one of the thread's levels; returns false for the level that stands for no task. [handler] */
bool levels_read(const struct thread *thread, const struct level *level, struct task_level *read);

/* As levels_read(), without the exit address. [handler] */
bool levels_describe(const struct thread *thread, const struct level *level, struct task_level *read);

/* Returns the region of the thread's current task, NULL outside all regions. [handler] */
struct region *levels_region(const struct thread *thread);

/* Drops the levels nested in the task that have ended without an event (parts of untied tasks). Returns false
 * if the task is unknown. [owner] */
bool levels_return_to(struct thread *thread, const ompt_data_t *task);

/* Ends the task, with no other task to continue. Returns false if the task is unknown. [owner] */
bool levels_end_task(struct thread *thread, const ompt_data_t *task);

/* Returns whether a task with that status has ended, at least on this thread. A status of a later standard
 * counts as a switch. [any] */
bool levels_status_ends(ompt_task_status_t status);

/* Makes the runtime's current task the innermost level. [owner] */
void levels_find(struct thread *thread, ompt_data_t *task);

/* Handles task_schedule when the innermost level is not the prior task or there is no room. [owner] */
void levels_schedule_slowly(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next);

/* Notes that the task encounters a region. [owner] */
void levels_fork(struct thread *thread, ompt_data_t *task, const ompt_frame_t *frame);

/* Begins an initial task, or an implicit one without room. [owner] */
void levels_begin_slowly(struct thread *thread, ompt_data_t *task, struct region *region, unsigned thread_num,
                         int flags);

/* Ends an implicit task that is not the innermost level or had no room. Returns its region. [owner] */
struct region *levels_end_slowly(struct thread *thread);

/* Leaves the joined region after the wait. A thread that did not begin the region must not touch it any more.
 * It is entering the next region, which is already the runtime's current one and cannot end without this
 * thread. [owner] */
void levels_leave(struct thread *thread);

/* Notes the end of the region that the innermost task encountered. [owner] */
static inline void levels_join(struct thread *thread)
{
    store_relaxed(&thread->level->exit, 0);
}

/* Handles task_schedule. Returns false if levels_schedule_slowly() must be called. [owner] */
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
    signal_fence(); /* the handler must find a complete level */
    store_relaxed(&thread->level, level + 1);
    return true;
}

/* Begins an implicit or initial task. [owner] */
static inline void levels_begin(struct thread *thread, ompt_data_t *task, struct region *region, unsigned thread_num,
                                int flags)
{
    struct level *level = thread->level;
    if (unlikely((flags & ompt_task_initial) || level == thread->last_level)) {
        levels_begin_slowly(thread, task, region, thread_num, flags);
        return;
    }
    uintptr_t team = (uintptr_t)region | LEVEL_IMPLICIT | LEVEL_PRIMARY;
    if (thread_num != 0 && !level->exit) { /* a team's other threads begin at the stack's start */
        team = (uintptr_t)region | LEVEL_IMPLICIT;
        level = thread->last_level - LEVELS;
        store_relaxed(&thread->level, level); /* an entry above the level is ignored while it is written */
        signal_fence();
    }
    level[1] = (struct level){.task = task, .team = team}; /* no task creates it: its word has no context */
    signal_fence();
    store_relaxed(&thread->level, level + 1);
}

/* Ends an implicit task if that is simple and nobody needs the region; otherwise returns false and changes
 * nothing. [owner] */
static inline bool levels_end_simply(struct thread *thread)
{
    struct level *level = thread->level;
    if (unlikely(!(level->team & LEVEL_IMPLICIT) || thread->levels_beyond || thread->probes))
        return false;
    store_relaxed(&thread->level, level - 1);
    return true;
}

/* Ends an implicit task of the region's first thread; returns the region. [owner] */
static inline struct region *levels_end(struct thread *thread)
{
    struct level *level = thread->level;
    if (unlikely(!(level->team & LEVEL_IMPLICIT) || thread->levels_beyond))
        return levels_end_slowly(thread);
    store_relaxed(&thread->level, level - 1);
    return (struct region *)(level->team & ~(uintptr_t)LEVEL_FLAGS);
}

#endif
