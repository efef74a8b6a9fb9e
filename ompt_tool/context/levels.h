/* The levels of a thread: one entry for each task that is nested on the thread's own stack, innermost last. A
 * level holds what a walk must know about the runtime. Callbacks update the levels while the runtime is
 * consistent. The handler only reads them, and never calls the runtime (docs/call-paths.md). The runtime
 * could list the creators of a task, but creators are a different chain: they may be on the stacks of other
 * threads. */
#ifndef BLAME_OMPT_TOOL_CONTEXT_LEVELS_H
#define BLAME_OMPT_TOOL_CONTEXT_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include <omp-tools.h>

#include "base/atomics.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/session/thread.h"

#define LEVEL_IMPLICIT 1u
#define LEVEL_PRIMARY  2u /* the thread is the first one of the region, which it encountered */
#define LEVEL_INITIAL  4u
#define LEVEL_PROBED   8u  /* the exit address of this level's task is in thread->probes->level */
#define LEVEL_SECOND   16u /* the task belongs to the process's second runtime (runtime_mark) */
#define LEVEL_FLAGS    31u

#define LEVEL_NO_EXIT 1u

/* A decoded level, as walks use it. */
struct task_level {
    uintptr_t exit; /* address inside the runtime's frame that called the task's code; 0: none */
    struct region *region;
    uint64_t data; /* value of the task's word (task_word.h) when the task began */
    int kind;      /* ompt_task_initial, ompt_task_implicit or ompt_task_explicit */
    bool primary;
};

/* Removes all levels. [owner] */
void levels_clear(struct thread *thread);

/* Decodes one of the thread's levels. Returns false for the lowest entry, which stands for no task. [handler] */
bool levels_read(const struct thread *thread, const struct level *level, struct task_level *read);

/* Like levels_read(), but sets the exit address to 0. [handler] */
bool levels_describe(const struct thread *thread, const struct level *level, struct task_level *read);

/* Returns the region of the thread's current task; NULL outside all regions. [handler] */
struct region *levels_region(const struct thread *thread);

/* Makes this task's level the innermost one. Levels further inward are dropped, because their tasks ended
 * without an event (parts of untied tasks). Returns false if the task has no level. [owner] */
bool levels_return_to(struct thread *thread, const ompt_data_t *task);

/* Removes the level of a task that ends without another task being continued. Returns false if the task has
 * no level. [owner] */
bool levels_end_task(struct thread *thread, const ompt_data_t *task);

/* Returns true if this status of task_schedule means that the task has ended, at least on this thread. A
 * status that a later standard adds counts as a switch to another task. [any] */
bool levels_status_ends(ompt_task_status_t status);

/* Makes the level of `task`, which is the runtime's current task, the innermost one. If the task has no
 * level, asks the runtime about it. [owner] */
void levels_find(struct thread *thread, ompt_data_t *task);

/* Handles task_schedule if the prior task's level is not the innermost one, or if no level is free. [owner] */
void levels_schedule_slowly(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next);

/* Returns true if the innermost task belongs to the other runtime than the one whose event the thread
 * handles. [owner] */
bool levels_are_others(const struct thread *thread);

/* Notes that the task has encountered a region. A region of one runtime inside one of the other is encountered
 * by the innermost task. [owner] */
void levels_fork(struct thread *thread, ompt_data_t *task, const ompt_frame_t *frame);

/* Begins an initial task, or an implicit task for which no level is free. [owner] */
void levels_begin_slowly(struct thread *thread, ompt_data_t *task, struct region *region, unsigned thread_num,
                         int flags);

/* Ends an implicit task that is not the innermost level or has no level. Returns its region. [owner] */
struct region *levels_end_slowly(struct thread *thread);

/* Called on a thread that did not encounter the region, after the wait at the region's join: leaves the
 * region, which the thread must not touch any more. The runtime's current region becomes its level. If the
 * thread is already entering its next region, that is this one, which cannot end without the thread. Otherwise
 * it has ended, and a sample finds that out. [owner] */
void levels_leave(struct thread *thread);

/* Returns the barrier at which the thread's implicit task waits, as STATE_BARRIER; it is part of the wait's
 * place. [owner] */
static inline uint64_t levels_barrier(const struct thread *thread)
{
    return STATE_BARRIER((uint8_t)thread->level->word);
}

/* Counts a barrier of the thread's implicit task. Returns it as levels_barrier() does. [owner] */
static inline uint64_t levels_next_barrier(struct thread *thread)
{
    uint8_t *count = (uint8_t *)&thread->level->word;
    if (likely(thread->level->task)) /* else the word is a region's address */
        store_relaxed(count, (uint8_t)(*count + 1));
    return levels_barrier(thread);
}

/* Notes that the region that the innermost task encountered has ended. [owner] */
static inline void levels_join(struct thread *thread)
{
    store_relaxed(&thread->level->exit, 0);
}

/* Handles task_schedule in the common cases. In other cases returns false and changes nothing;
 * levels_schedule_slowly() must then be called. [owner] */
static inline bool levels_schedule(struct thread *thread, const ompt_data_t *prior, ompt_task_status_t status,
                                   ompt_data_t *next)
{
    struct level *level = thread->level;
    if (unlikely(level->task != prior))
        return false;
    if (level[-1].task == next && likely(status != ompt_task_detach)) {
        store_relaxed(&thread->level, level - 1);
        return true;
    }
    if (unlikely(status != ompt_task_switch || level == thread->last_level))
        return false;
    level[1].task = next;
    level[1].word = next->value;
    level[1].team = 0;
    signal_fence(); /* the handler must see a complete level */
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
    uintptr_t team = (uintptr_t)region | LEVEL_IMPLICIT | LEVEL_PRIMARY | runtime_mark;
    /* This is not the first thread of the team, and it has no open region of its own, so there is no outer
     * task. */
    if (thread_num != 0 && !level->exit) {
        team -= LEVEL_PRIMARY;
        level = thread->last_level - LEVELS;
        /* The handler ignores entries above the current level, so they can be written safely. */
        store_relaxed(&thread->level, level);
        signal_fence();
    }
    /* the word is 0, because no task creates an implicit task, so there is no creation context */
    level[1] = (struct level){.task = task, .team = team};
    signal_fence();
    store_relaxed(&thread->level, level + 1);
}

/* Ends an implicit task in the common case, in which no thread needs its region. In other cases returns false
 * and changes nothing. [owner] */
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
