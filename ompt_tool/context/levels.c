#include "ompt_tool/context/levels.h"

#include <stddef.h>

#include "base/os.h"
#include "cct/deferred/region.h"
#include "ompt_tool/context/runtime.h"

_Static_assert(_Alignof(struct region) > LEVEL_FLAGS, "the low bits of a record's address have room for the flags");

/* maximum plausible distance in bytes from a task's ompt_frame_t to its word (the ompt_data_t that the
 * runtime gives the tool) */
#define MAX_FRAME_BYTES 256

/* for each runtime, distance in bytes from a task's word to its ompt_frame_t; 0: unknown, so that no task has
 * an exit address */
static intptr_t frame_bytes[2];

/* Measures frame_bytes at the start of an initial task. */
static void levels_learn_task_frame_bytes(const ompt_data_t *task)
{
    ompt_data_t *current = NULL;
    ompt_frame_t *frame = NULL;
    if (!runtime.get_task_info || runtime.get_task_info(0, NULL, &current, &frame, NULL, NULL) != 2)
        return;
    intptr_t bytes = (intptr_t)((uintptr_t)frame - (uintptr_t)current);
    bool known = current == task && frame && bytes >= -MAX_FRAME_BYTES && bytes <= MAX_FRAME_BYTES;
    store_relaxed(&frame_bytes[runtime_mark != 0], known ? bytes : 0);
}

/* Returns the lowest level, which belongs to no task. Its task pointer differs from all of the runtime's. */
static struct level *levels_bottom(const struct thread *thread)
{
    return thread->last_level - LEVELS;
}

static void levels_set(struct thread *thread, struct level *level)
{
    signal_fence(); /* the handler must see a complete level */
    store_relaxed(&thread->level, level);
    signal_fence();
}

void levels_clear(struct thread *thread)
{
    struct level *bottom = levels_bottom(thread);
    bottom->task = (ompt_data_t *)bottom;
    thread->levels_beyond = 0;
    levels_set(thread, bottom);
}

static void levels_push_above(struct thread *thread, struct level *level, ompt_data_t *task, uintptr_t team)
{
    struct level pushed = {.task = task, .word = task ? task->value : 0, .team = team};
    if (unlikely(level == thread->last_level)) {
        thread->levels_beyond++;
        return;
    }
    /* the handler ignores entries above the current level, so level[1] can be written safely */
    levels_set(thread, level);
    level[1] = pushed;
    levels_set(thread, level + 1);
}

static void levels_push(struct thread *thread, ompt_data_t *task, uintptr_t team)
{
    levels_push_above(thread, thread->level, task, team);
}

/* Returns the level that has the region of this level's task: this level, or one further outward. */
static const struct level *level_with_team(const struct thread *thread, const struct level *level)
{
    const struct level *bottom = levels_bottom(thread);
    while (level > bottom && !(level->team & (LEVEL_IMPLICIT | LEVEL_INITIAL)))
        level--;
    return level;
}

/* Returns true if a worker has only left a region (levels_leave), and the level's region is over, too. */
static bool level_is_left(const struct level *level)
{
    return unlikely(!level->task && level->word) && !region_word_is_open(level->word);
}

static struct region *level_region(const struct thread *thread, const struct level *level)
{
    const struct level *team = level_with_team(thread, level);
    return level_is_left(team) ? NULL : (struct region *)(team->team & ~(uintptr_t)LEVEL_FLAGS);
}

struct region *levels_region(const struct thread *thread)
{
    return level_region(thread, load_relaxed(&thread->level));
}

/* Returns the exit address of a level's task; 0 if it has none. The task's memory may already belong to
 * another task, if a worker is between a join and its next region, or if a part of an untied task ended
 * without an event. So the address is read by os_copy_memory(), which fails on an invalid pointer, without a
 * fault. */
static uintptr_t level_exit_address(const struct thread *thread, const struct level *level)
{
    uintptr_t exit = load_relaxed(&level->exit);
    if (exit)
        return exit == LEVEL_NO_EXIT ? 0 : exit;
    intptr_t bytes = load_relaxed(&frame_bytes[(level_with_team(thread, level)->team & LEVEL_SECOND) != 0]);
    uintptr_t frame = (uintptr_t)level->task + (uintptr_t)bytes + offsetof(ompt_frame_t, exit_frame);
    if (!bytes || !level->task || !os_copy_memory(&exit, frame, sizeof(exit)))
        return 0;
    return exit;
}

bool levels_describe(const struct thread *thread, const struct level *level, struct task_level *read)
{
    *read = (struct task_level){0};
    if (level <= levels_bottom(thread) || level_is_left(level))
        return false;
    read->region = level_region(thread, level);
    read->data = level->task ? level->word : 0;
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
    read->exit = level_exit_address(thread, level);
    return true;
}

bool levels_return_to(struct thread *thread, const ompt_data_t *task)
{
    struct level *level = thread->level, *bottom = levels_bottom(thread);
    while (level > bottom && level->task != task)
        level--;
    if (level == bottom)
        return false;
    thread->levels_beyond = 0;
    levels_set(thread, level);
    return true;
}

static uintptr_t level_team_flags(int type, int thread_num)
{
    if (type & ompt_task_initial)
        return LEVEL_INITIAL;
    return thread_num == 0 ? LEVEL_IMPLICIT | LEVEL_PRIMARY : LEVEL_IMPLICIT;
}

/* Sets the levels by the current task alone. The tasks around it are unknown, because the tool has just met
 * the thread, or because the process is a forked child. */
static void levels_learn_current_task(struct thread *thread, ompt_data_t *task)
{
    ompt_data_t *parallel_data = NULL;
    int type = 0, thread_num = 0;
    levels_clear(thread);
    if (!runtime.get_task_info || runtime.get_task_info(0, &type, NULL, NULL, &parallel_data, &thread_num) != 2)
        return;
    uintptr_t region = (uintptr_t)runtime_region(parallel_data);
    bool is_explicit = type & ompt_task_explicit;
    levels_push(thread, is_explicit ? NULL : task, region | level_team_flags(type, thread_num) | runtime_mark);
    if (is_explicit)
        levels_push(thread, task, 0);
}

void levels_find(struct thread *thread, ompt_data_t *task)
{
    if (!levels_return_to(thread, task))
        levels_learn_current_task(thread, task);
}

bool levels_end_task(struct thread *thread, const ompt_data_t *task)
{
    if (thread->levels_beyond) {
        thread->levels_beyond--;
        return false;
    }
    if (!task || !levels_return_to(thread, task))
        return false;
    levels_set(thread, thread->level - 1);
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
        return; /* the prior task has ended or, if it was cancelled, never began */
    if (begins)
        levels_push(thread, next, 0);
    else if (thread->level->task == prior)
        levels_set(thread, thread->level - 1);
}

bool levels_are_others(const struct thread *thread)
{
    const struct level *team = level_with_team(thread, thread->level);
    return team != levels_bottom(thread) && (team->team & LEVEL_SECOND) != runtime_mark;
}

void levels_fork(struct thread *thread, ompt_data_t *task, const ompt_frame_t *frame)
{
    uintptr_t exit = frame ? (uintptr_t)frame->exit_frame.ptr : 0;
    if (unlikely(thread->levels_beyond))
        return;
    if (unlikely(thread->level->task != task)) {
        if (levels_are_others(thread))
            exit = level_exit_address(thread, thread->level);
        else
            levels_find(thread, task);
    }
    store_relaxed(&thread->level->exit, exit ? exit : LEVEL_NO_EXIT);
}

void levels_begin_slowly(struct thread *thread, ompt_data_t *task, struct region *region, unsigned thread_num,
                         int flags)
{
    /* The initial tasks of a league are treated as implicit tasks. */
    bool initial = (flags & ompt_task_initial) && !thread->level->exit && thread->ledger->kind != PROFILE_THREAD_WORKER;
    if (unlikely(initial))
        levels_learn_task_frame_bytes(task);
    if ((flags & ompt_task_initial) && levels_are_others(thread))
        return; /* the thread has begun with the other runtime, and has a level */
    if ((flags & ompt_task_initial) && thread->level->exit && !region && !thread->regions.nameless)
        /* libomp does not report the league if it has a single team; it is then the thread's open region */
        region = thread->regions.open;
    bool first = initial || (thread_num != 0 && !thread->level->exit);
    uintptr_t team = (initial ? LEVEL_INITIAL : LEVEL_IMPLICIT) | runtime_mark;
    if (!initial && thread_num == 0)
        team |= LEVEL_PRIMARY;
    if (first)
        thread->levels_beyond = 0;
    levels_push_above(thread, first ? levels_bottom(thread) : thread->level, task, (uintptr_t)region | team);
}

struct region *levels_end_slowly(struct thread *thread)
{
    if (thread->levels_beyond) {
        thread->levels_beyond--;
        return NULL;
    }
    const struct level *team = level_with_team(thread, thread->level);
    struct region *region = level_region(thread, team);
    if (team != levels_bottom(thread))
        levels_set(thread, (struct level *)team - 1);
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
    uint64_t word = runtime_region_word(parallel_data);
    struct level *bottom = levels_bottom(thread);
    levels_clear(thread);
    if (!region_of_word(word))
        return;
    /* the handler ignores entries above the current level */
    bottom[1] = (struct level){.word = word, .team = (uintptr_t)region_of_word(word) | LEVEL_IMPLICIT | runtime_mark};
    levels_set(thread, bottom + 1);
}
