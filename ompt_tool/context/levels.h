/* The levels of a thread: one entry for each task that is nested on the thread's own stack, innermost last. A
 * level holds what a walk needs to know about the runtime. Callbacks update the levels while the runtime is
 * consistent. The handler only reads them and never calls the runtime (docs/call-paths.md). The runtime could
 * list the creators of a task, but that is a different chain: creators may be on the stacks of other threads. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_LEVELS_H
#define BLAME_OMPT_TOOL_CONTEXT_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

#include "base/atomics.h"
#include "ompt_tool/session/thread.h"

#define LEVEL_IMPLICIT 1u
#define LEVEL_PRIMARY  2u /* the thread is the region's first, which encountered the region */
#define LEVEL_INITIAL  4u
#define LEVEL_PROBED   8u /* thread->probes->level has the exit address of this level's task */
#define LEVEL_FLAGS    15u

#define LEVEL_NO_EXIT 1u

/* A level in decoded form, as walks use it. */
struct task_level {
    uintptr_t exit; /* address inside the frame of the runtime that called the task's code; 0: none */
    struct region *region;
    uint64_t data; /* the task's word (task_word.h) when the task began */
    int kind;      /* ompt_task_initial, ompt_task_implicit or ompt_task_explicit */
    bool primary;
};

/* Removes all levels. [owner] */
void levels_clear(struct thread *thread);

/* Decodes one of the thread's levels. Returns false for the lowest entry, which stands for no task. [handler] */
bool levels_read(const struct thread *thread, const struct level *level, struct task_level *read);

/* Does the same as levels_read(), but leaves the exit address 0. [handler] */
bool levels_describe(const struct thread *thread, const struct level *level, struct task_level *read);

/* Returns the region of the thread's current task, NULL outside all regions. [handler] */
struct region *levels_region(const struct thread *thread);

/* Makes the task the innermost level. Levels inside it are dropped: their tasks ended without an event (parts
 * of untied tasks). Returns false if the task has no level. [owner] */
bool levels_return_to(struct thread *thread, const ompt_data_t *task);

/* Removes the level of a task that ends while no other task continues. Returns false if the task has no
 * level. [owner] */
bool levels_end_task(struct thread *thread, const ompt_data_t *task);

/* Returns true if this status of task_schedule means that the task has ended, at least on this thread. A
 * status from a later standard counts as a switch. [any] */
bool levels_status_ends(ompt_task_status_t status);

/* Makes the task, which is the runtime's current one, the innermost level. If it has no level, asks the
 * runtime about it. [owner] */
void levels_find(struct thread *thread, ompt_data_t *task);

/* Handles task_schedule if the prior task is not the innermost level or if no level is free. [owner] */
void levels_schedule_slowly(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next);

/* Notes that the task has encountered a region. [owner] */
void levels_fork(struct thread *thread, ompt_data_t *task, const ompt_frame_t *frame);

/* Begins an initial task, or an implicit task for which no level is free. [owner] */
void levels_begin_slowly(struct thread *thread, ompt_data_t *task, struct region *region, unsigned thread_num,
                         int flags);

/* Ends an implicit task that is not the innermost level or has no level. Returns its region. [owner] */
struct region *levels_end_slowly(struct thread *thread);

/* Leaves the region after the wait at its join, on a thread that did not encounter it. Such a thread must not
 * touch the region any more. If the thread is already entering the next region, that region becomes its
 * level: it is the runtime's current one and cannot end without this thread. [owner] */
void levels_leave(struct thread *thread);

/* Notes that the region encountered by the innermost task has ended. [owner] */
static inline void levels_join(struct thread *thread)
{
    store_relaxed(&thread->level->exit, 0);
}

/* Handles task_schedule in the common cases. Otherwise returns false and changes nothing: call
 * levels_schedule_slowly(). [owner] */
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
    /* Not the first thread of the team, and without an open region of its own: there is no outer task. */
    if (thread_num != 0 && !level->exit) {
        team = (uintptr_t)region | LEVEL_IMPLICIT;
        level = thread->last_level - LEVELS;
        /* The handler ignores entries above the level, so they can be written. */
        store_relaxed(&thread->level, level);
        signal_fence();
    }
    /* no task creates an implicit task: its word has no context */
    level[1] = (struct level){.task = task, .team = team};
    signal_fence();
    store_relaxed(&thread->level, level + 1);
}

/* Ends an implicit task in the common case, in which nobody needs its region. Otherwise returns false and
 * changes nothing. [owner] */
static inline bool levels_end_simply(struct thread *thread)
{
    struct level *level = thread->level;
    if (unlikely(!(level->team & LEVEL_IMPLICIT) || thread->levels_beyond || thread->probes))
        return false;
    store_relaxed(&thread->level, level - 1);
    return true;
}

/* Ends the implicit task of the region's first thread. Returns the region. [owner] */
static inline struct region *levels_end(struct thread *thread)
{
    struct level *level = thread->level;
    if (unlikely(!(level->team & LEVEL_IMPLICIT) || thread->levels_beyond))
        return levels_end_slowly(thread);
    store_relaxed(&thread->level, level - 1);
    return (struct region *)(level->team & ~(uintptr_t)LEVEL_FLAGS);
}

#endif
