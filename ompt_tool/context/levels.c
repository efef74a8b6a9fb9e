#include "ompt_tool/context/levels.h"

#include <stddef.h>

#include "base/os.h"
#include "cct/deferred/region.h"
#include "ompt_tool/context/runtime.h"

_Static_assert(_Alignof(struct region) > LEVEL_FLAGS, "the flags have room in the address of a record");

#define MAX_FRAME_BYTES 256 /* between a task's frame and its word, in any runtime that can be believed */

static uintptr_t frame_bytes; /* from a task's frame to its word; 0: not known, and no task has an exit address */

/* From an initial task's begin. */
static void learn_frames(const ompt_data_t *task)
{
    ompt_data_t *current = NULL;
    ompt_frame_t *frame = NULL;
    if (!runtime.get_task_info || runtime.get_task_info(0, NULL, &current, &frame, NULL, NULL) != 2)
        return;
    uintptr_t bytes = (uintptr_t)current - (uintptr_t)frame;
    bool known = current == task && frame && bytes >= sizeof(*frame) && bytes <= MAX_FRAME_BYTES;
    store_relaxed(&frame_bytes, known ? bytes : 0);
}

/* The one that stands for no task: none of the runtime's words is there. */
static struct level *bottom_of(const struct thread *thread)
{
    return thread->last_level - LEVELS;
}

static void set_level(struct thread *thread, struct level *level)
{
    signal_fence(); /* the handler finds the level when it is complete */
    store_relaxed(&thread->level, level);
    signal_fence();
}

void levels_clear(struct thread *thread)
{
    struct level *bottom = bottom_of(thread);
    bottom->task = (ompt_data_t *)bottom;
    thread->levels_beyond = 0;
    set_level(thread, bottom);
}

static void push_above(struct thread *thread, struct level *level, ompt_data_t *task, uintptr_t team)
{
    struct level pushed = {.task = task, .word = task ? task->value : 0, .team = team};
    if (unlikely(level == thread->last_level)) {
        thread->levels_beyond++;
        return;
    }
    set_level(thread, level); /* what is above is no level while it is written */
    level[1] = pushed;
    set_level(thread, level + 1);
}

static void push(struct thread *thread, ompt_data_t *task, uintptr_t team)
{
    push_above(thread, thread->level, task, team);
}

/* The level that says which region the task of this one is in. */
static const struct level *team_of(const struct thread *thread, const struct level *level)
{
    const struct level *bottom = bottom_of(thread);
    while (level > bottom && !(level->team & (LEVEL_IMPLICIT | LEVEL_INITIAL)))
        level--;
    return level;
}

static struct region *region_of(const struct thread *thread, const struct level *level)
{
    return (struct region *)(team_of(thread, level)->team & ~(uintptr_t)LEVEL_FLAGS);
}

struct region *levels_region(const struct thread *thread)
{
    return region_of(thread, load_relaxed(&thread->level));
}

/* A task's memory may be another's already: a worker's between the join and its next region, that of a part
 * of an untied task that has ended without an event. Read so that a wild pointer is a failure and not a
 * fault. */
static uintptr_t exit_of(const struct level *level)
{
    uintptr_t exit = load_relaxed(&level->exit), bytes = load_relaxed(&frame_bytes);
    if (exit)
        return exit == LEVEL_NO_EXIT ? 0 : exit;
    uintptr_t frame = (uintptr_t)level->task - bytes + offsetof(ompt_frame_t, exit_frame);
    if (!bytes || !level->task || !os_copy_memory(&exit, frame, sizeof(exit)))
        return 0;
    return exit;
}

bool levels_describe(const struct thread *thread, const struct level *level, struct task_level *read)
{
    *read = (struct task_level){0};
    if (level <= bottom_of(thread))
        return false;
    read->region = region_of(thread, level);
    read->data = level->word;
    read->primary = level->team & LEVEL_PRIMARY;
    read->kind = level->team & LEVEL_INITIAL    ? ompt_task_initial
                 : level->team & LEVEL_IMPLICIT ? ompt_task_implicit
                                                : ompt_task_explicit;
    return true;
}

bool levels_read(const struct thread *thread, const struct level *level, struct task_level *read)
{
    if (!levels_describe(thread, level, read))
        return false;
    read->exit = exit_of(level);
    return true;
}

bool levels_return_to(struct thread *thread, const ompt_data_t *task)
{
    struct level *level = thread->level, *bottom = bottom_of(thread);
    while (level > bottom && level->task != task)
        level--;
    if (level == bottom)
        return false;
    thread->levels_beyond = 0;
    set_level(thread, level);
    return true;
}

static uintptr_t team_flags(int type, int thread_num)
{
    if (type & ompt_task_initial)
        return LEVEL_INITIAL;
    return thread_num == 0 ? LEVEL_IMPLICIT | LEVEL_PRIMARY : LEVEL_IMPLICIT;
}

/* Nothing is known of what is around the task: a thread that the tool meets in the middle, a forked child's. */
static void learn(struct thread *thread, ompt_data_t *task)
{
    ompt_data_t *parallel_data = NULL;
    int type = 0, thread_num = 0;
    levels_clear(thread);
    if (!runtime.get_task_info || runtime.get_task_info(0, &type, NULL, NULL, &parallel_data, &thread_num) != 2)
        return;
    uintptr_t region = (uintptr_t)runtime_region(parallel_data);
    bool is_explicit = type & ompt_task_explicit;
    push(thread, is_explicit ? NULL : task, region | team_flags(type, thread_num));
    if (is_explicit)
        push(thread, task, 0);
}

void levels_find(struct thread *thread, ompt_data_t *task)
{
    if (!levels_return_to(thread, task))
        learn(thread, task);
}

bool levels_end_task(struct thread *thread, const ompt_data_t *task)
{
    if (thread->levels_beyond) {
        thread->levels_beyond--;
        return false;
    }
    if (!task || !levels_return_to(thread, task))
        return false;
    set_level(thread, thread->level - 1);
    return true;
}

bool levels_status_ends(ompt_task_status_t status)
{
    return status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
}

void levels_schedule_slowly(struct thread *thread, ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    bool begins = !levels_status_ends(status);
    if (thread->levels_beyond) {
        thread->levels_beyond += begins ? 1u : -1u;
        return;
    }
    if (begins && prior && thread->level->task != prior)
        levels_find(thread, prior);
    if (levels_return_to(thread, next))
        return; /* prior has ended, or was never begun: a cancelled one */
    if (begins)
        push(thread, next, 0);
    else if (thread->level->task == prior)
        set_level(thread, thread->level - 1);
}

void levels_fork(struct thread *thread, ompt_data_t *task, const ompt_frame_t *frame)
{
    uintptr_t exit = frame ? (uintptr_t)frame->exit_frame.ptr : 0;
    if (unlikely(thread->levels_beyond))
        return;
    if (unlikely(thread->level->task != task))
        levels_find(thread, task);
    store_relaxed(&thread->level->exit, exit ? exit : LEVEL_NO_EXIT);
}

void levels_begin_slowly(struct thread *thread, ompt_data_t *task, struct region *region, unsigned thread_num,
                         int flags)
{
    /* Those of a league are like implicit ones. */
    bool initial = (flags & ompt_task_initial) && !thread->level->exit && thread->ledger->kind != PROFILE_THREAD_WORKER;
    if (unlikely(initial))
        learn_frames(task);
    if ((flags & ompt_task_initial) && thread->level->exit && !region && !thread->regions.nameless)
        region = thread->regions.open; /* libomp does not say of which league a team without others is: of this one */
    bool first = initial || (thread_num != 0 && !thread->level->exit);
    uintptr_t team = initial ? LEVEL_INITIAL : LEVEL_IMPLICIT;
    if (!initial && thread_num == 0)
        team |= LEVEL_PRIMARY;
    if (first)
        thread->levels_beyond = 0;
    push_above(thread, first ? bottom_of(thread) : thread->level, task, (uintptr_t)region | team);
}

struct region *levels_end_slowly(struct thread *thread)
{
    if (thread->levels_beyond) {
        thread->levels_beyond--;
        return NULL;
    }
    const struct level *team = team_of(thread, thread->level);
    struct region *region = region_of(thread, team);
    if (team != bottom_of(thread))
        set_level(thread, (struct level *)team - 1);
    return region;
}

void levels_leave(struct thread *thread)
{
    ompt_data_t *parallel_data = NULL;
    const struct level *level = thread->level;
    bool joined = (level->team & (LEVEL_IMPLICIT | LEVEL_PRIMARY)) == LEVEL_IMPLICIT && level->task;
    if (!joined)
        return;
    if (runtime.get_task_info)
        runtime.get_task_info(0, NULL, NULL, NULL, &parallel_data, NULL);
    struct region *region = runtime_region(parallel_data);
    bool next = region && !(load_acquire(&region->state) & REGION_ENDED);
    thread->levels_beyond = 0;
    if (next)
        push_above(thread, bottom_of(thread), NULL, (uintptr_t)region | LEVEL_IMPLICIT);
    else
        levels_clear(thread);
}
