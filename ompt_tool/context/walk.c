#include "ompt_tool/context/walk.h"

#include <omp-tools.h>
#include <stddef.h>
#include <sys/auxv.h>

#include "base/atomics.h"
#include "ompt_tool/context/creation_memo.h"
#include "ompt_tool/context/probe_stack.h"
#include "ompt_tool/session/session.h"
#include "unwind/python.h"

#define MAX_LEVELS  64 /* most ancestors that one walk looks at */
#define ENTRY_BYTES 64 /* bytes of _start, which has no unwind information on some systems */

static uintptr_t program_entry;

static uint32_t flags_of(const struct unwind_frame *frame)
{
    return frame->module ? frame->module->flags : 0;
}

uint64_t walk_key(const struct unwind_frame *frame)
{
    if (!frame->range)
        return PROFILE_KEY(0, frame->ip);
    return PROFILE_KEY(frame->range->module_id, frame->ip - frame->range->load_bias);
}

static void next_frame(struct walk *walk)
{
    walk->have = unwinder_next(walk->unwinder, &walk->at);
    if (unlikely(walk->memo) && walk->have == UNWIND_FRAME)
        creation_memo_note(walk->memo, &walk->at);
}

bool walk_next_level(struct walk *walk)
{
    walk->place--;
    walk->has_level = ++walk->passed <= MAX_LEVELS && levels_read(walk->thread, walk->place, &walk->level);
    return walk->has_level;
}

static bool skip_stale_level(struct walk *walk)
{
    if (!walk->has_stale)
        walk->stale = walk->level, walk->stale_place = walk->place;
    walk->has_stale = true;
    return walk_next_level(walk);
}

/* Returns true for an exit address that no frame of this stack has. For a task with if(0), whose code
 * programs by Clang call themselves, libomp takes the value that the program has in rbp. */
static bool is_foreign_exit(const struct walk *walk)
{
    return walk->level.exit && (walk->level.exit < walk->stack_low ||
                                (walk->level.kind == ompt_task_explicit && walk->level.exit >= walk->stack_high));
}

void walk_begin(struct walk *walk, struct thread *thread)
{
    struct unwinder *unwinder = &thread->unwinder;
    walk->unwinder = unwinder;
    walk->thread = thread;
    walk->memo = NULL;
    walk->python.begun = false;
    walk->probe = walk->inside = NULL;
    walk->probe_place = NULL;
    walk->has_probes = thread->probes && load_relaxed(&thread->probes->count);
    walk->past_probe = false;
    walk->has_stale = walk->on_fiber = false;
    walk->stack_low = unwinder->stack_begin;
    walk->stack_high = unwinder->stack_high ? unwinder->stack_high : UINTPTR_MAX;
    walk->place = load_relaxed(&thread->level) + 1;
    walk->passed = 0;
    do /* a task outside all regions runs where it was made: its callers are on this stack */
        walk_next_level(walk);
    while (walk->has_level && walk->level.kind == ompt_task_explicit && !walk->level.region);
    /* A serialised region or an undeferred task leaves the exit address of a frame that has returned. Below
     * the stack pointer, such an address marks nothing. The task above is the one that owns this stack. */
    while (walk->has_level && is_foreign_exit(walk) && skip_stale_level(walk))
        ;
    next_frame(walk);
}

static bool has_exit(const struct walk *walk)
{
    return walk->has_level && walk->level.exit >= walk->stack_low && walk->level.exit < walk->stack_high;
}

/* Returns true for the runtime's frame that called the code of the task around, if the walk's task has no
 * frame on the stack yet or never gets one (leagues). */
static bool is_boundary_around(struct walk *walk, const struct unwind_frame *frame)
{
    if (!walk->has_level || walk->level.exit || walk->level.kind == ompt_task_initial)
        return false;
    struct task_level level = walk->level;
    const struct level *place = walk->place;
    if (walk_next_level(walk) && walk->level.exit >= frame->stack && walk->level.exit < frame->cfa)
        return true;
    walk->level = level;
    walk->place = place;
    walk->has_level = true;
    return false;
}

/* Returns true for a runtime frame after user code, if the task's exit address is missing or stale.
 * GOMP_parallel_loop_* set none for the primary thread, but the runtime's frame that called the region's body
 * is here. While a region is being made, its task has neither an exit address nor a frame: the frame is then
 * the boundary of the task around. (A region serialised by Clang has no such frame: user code calls its
 * body.) */
static bool is_unmarked_boundary(struct walk *walk, const struct unwind_frame *frame)
{
    if (walk->has_stale) {
        walk->level = walk->stale;
        walk->place = walk->stale_place;
        walk->has_level = true;
        walk->has_stale = false;
        return true;
    }
    return is_boundary_around(walk, frame) ||
           (walk->has_level && !walk->level.exit && walk->level.kind != ompt_task_initial);
}

/* Returns true if the frame is the runtime's and called the code of the walk's current task. A frame of user
 * code that spans the exit address shows that the address is stale (see walk_begin). */
static bool is_boundary(struct walk *walk, const struct unwind_frame *frame, bool runtime_frame, bool leading)
{
    while (has_exit(walk) && frame->cfa > walk->level.exit) {
        if (runtime_frame && walk->level.exit >= frame->stack)
            return true;
        if (!skip_stale_level(walk))
            break;
    }
    return runtime_frame && (leading ? is_boundary_around(walk, frame) : is_unmarked_boundary(walk, frame));
}

/* Returns true for frames that only start the program's own code: the loader, _start, __libc_start_main, a
 * thread's start. */
static bool is_system(const struct unwind_frame *frame, uint32_t flags)
{
    return (flags & PROFILE_MODULE_SYSTEM) || frame->ip - program_entry < ENTRY_BYTES;
}

/* Drops the frames that start threads and programs, from a path that reached the stack's end. */
static void cut_start(struct path *path, size_t system_count)
{
    if (system_count < path->count || path->in_runtime)
        path->count -= system_count;
    else if (path->count)
        path->count = 1; /* all frames are the system's: the innermost is the most useful */
}

static bool is_own_stack(const struct walk *walk, uintptr_t address)
{
    return address >= walk->unwinder->own_stack_low && address < walk->unwinder->own_stack_high;
}

/* Returns whether the frame that called the task's code is on another stack than the walk. An address below
 * the walk's own frames may be stale, except for a team's first thread: only regions of one thread are
 * serialised. */
static bool is_elsewhere(const struct walk *walk, const struct task_level *level, const struct level *place)
{
    bool runs_team = place == load_relaxed(&walk->thread->level) && walk->thread->team > 1;
    bool is_above = level->exit > walk->at.stack, is_below = level->exit && level->exit < walk->stack_low;
    return is_own_stack(walk, level->exit) ||
           (level->kind == ompt_task_implicit && (is_above || (is_below && runs_team)));
}

/* Finds the task that runs on a fiber. A fiber's path ends where the fiber began, without the frame that
 * called the task's code: that frame is on the thread's stack, or on a stack further up. */
static bool find_fibers_task(struct walk *walk)
{
    struct task_level level;
    const struct level *place = load_relaxed(&walk->thread->level);
    if (is_own_stack(walk, walk->stack_low) || is_own_stack(walk, walk->at.stack))
        return false;
    for (uint32_t passed = 0; passed < MAX_LEVELS && levels_read(walk->thread, place, &level); passed++, place--) {
        bool elsewhere = is_elsewhere(walk, &level, place);
        if (level.kind == ompt_task_initial || (elsewhere && !level.region))
            return false;
        if (!elsewhere)
            continue;
        walk->level = level;
        walk->place = place;
        walk->has_level = true;
        return true;
    }
    return false;
}

static void take_runtime_frame(struct path *path, const struct unwind_frame *frame)
{
    path->in_runtime = true;
    path->runtime_key = walk_key(frame); /* the last one remains: the entry that user code called */
    path->count = 0;                     /* what the runtime called is the runtime's time */
}

/* Returns whether the walk's task may have this probe. The walk's task can turn out late: a level that was
 * skipped as stale may be its own. */
static bool is_of_walk(const struct walk *walk, const struct probe_open *probe)
{
    return !walk->has_level || probe->task.region == walk->level.region ||
           (walk->has_stale && probe->task.region == walk->stale.region);
}

/* Returns the innermost phase, event or parameter that the walk's task has open. */
static struct probe_open *innermost_probe(struct walk *walk)
{
    struct probes *probes = walk->thread->probes;
    if (likely(!walk->has_probes) || walk->past_probe)
        return NULL;
    uint32_t count = load_relaxed(&probes->count);
    if (walk->probe_place != walk->place || walk->probe_stale != walk->has_stale) {
        while (count > 0 && !is_of_walk(walk, &probes->open[count - 1]))
            count--;
        walk->probe = count > 0 && probes->open[count - 1].context ? &probes->open[count - 1] : NULL;
        walk->probe_place = walk->place;
        walk->probe_stale = walk->has_stale;
    }
    return walk->probe;
}

/* Returns true if the frame is that of the function that began the probe, or one around it: everything
 * further out is known. */
static bool is_around_probe(struct walk *walk, const struct unwind_frame *frame)
{
    struct probe_open *probe = innermost_probe(walk);
    if (!probe || frame->cfa <= probe->stack)
        return false;
    walk->inside = probe;
    return true;
}

/* Adds one of the interpreter's own frames. Outside its loop, such frames mean nothing to the author of a
 * script. A later call of the loop shows whether these frames are inside it. */
static void take_glue(struct walk *walk, struct path *path)
{
    struct walk_python *python = &walk->python_path;
    bool is_next = python->end == path->count;
    if (python->found && is_next && python->glue == 0)
        return; /* this frame called the loop: not the program's */
    python->glue = is_next ? python->glue + 1 : 1;
    path->keys[path->count++] = walk_key(&walk->at);
    python->end = path->count;
}

static bool next_script_frame(struct walk *walk, struct python_place *place)
{
    if (walk->in_r)
        return r_next(&walk->r, place, &walk->python.broken);
    return python_next(&walk->python, walk->unwinder, place);
}

/* Replaces a call of the interpreter's loop with the Python frames that it runs. */
static void take_loop(struct walk *walk, struct path *path)
{
    struct walk_python *python = &walk->python_path;
    struct python_place place;
    size_t most = (size_t)session.options.depth;
    if (python->end == path->count)
        path->count -= python->glue;
    while (path->count < most && next_script_frame(walk, &place))
        path->keys[path->count++] = PROFILE_KEY(place.module_id, place.line);
    if (walk->python.broken && path->count < most)
        path->keys[path->count++] = walk_key(&walk->at);
    *python = (struct walk_python){.found = true, .end = path->count};
    walk->python.waits = false; /* the frames further out do not belong to this wait */
    if (walk->memo)             /* the memo knows the stack alone */
        creation_memo_spoil(walk->memo);
}

static void begin_interpreters(struct walk *walk)
{
    const struct core *core = &walk->thread->core;
    python_begin(&walk->python, walk->unwinder, core->state == CORE_ASLEEP && core->in_call);
    r_begin(&walk->r);
}

/* Adds a frame of the interpreter; returns false for a frame like any other. */
static __attribute__((noinline)) bool take_python_frame(struct walk *walk, struct path *path)
{
    if (path->count == (size_t)session.options.depth || is_system(&walk->at, flags_of(&walk->at)))
        return false;
    if (!walk->python.begun)
        begin_interpreters(walk);
    walk->in_r = (flags_of(&walk->at) & PROFILE_MODULE_R) != 0;
    enum python_kind kind = walk->in_r ? r_meet(&walk->r, &walk->at) : python_meet(&walk->python, &walk->at);
    if (walk->python.waits)
        path->count = 0; /* the wait's row alone says enough */
    if (kind == PYTHON_GLUE && !walk->python.waits)
        take_glue(walk, path);
    else if (kind == PYTHON_LOOP)
        take_loop(walk, path);
    return kind != PYTHON_NONE;
}

bool walk_task(struct walk *walk, struct path *path)
{
    bool leading = !walk->past_probe, boundary = false;
    size_t system_count = 0; /* outermost frames so far that are the system's */
    walk->python_path = (struct walk_python){0};
    *path = (struct path){.keys = path->keys};
    for (; walk->have == UNWIND_FRAME; next_frame(walk)) {
        uint32_t flags = flags_of(&walk->at);
        bool runtime_frame = (flags & PROFILE_MODULE_RUNTIME) != 0;
        if ((boundary = is_boundary(walk, &walk->at, runtime_frame, leading)))
            break;
        if (runtime_frame && leading) {
            take_runtime_frame(path, &walk->at);
            system_count = 0;
        }
        if (flags & (PROFILE_MODULE_RUNTIME | PROFILE_MODULE_TOOL | PROFILE_MODULE_INTERPRETER)) {
            if (!(flags & PROFILE_MODULE_INTERPRETER))
                continue;
            if (take_python_frame(walk, path)) {
                leading = false;
                system_count = 0;
                if (unlikely(walk->has_probes) && is_around_probe(walk, &walk->at))
                    return true;
                continue;
            }
        }
        if (path->count == (size_t)session.options.depth) {
            path->truncated = true;
            walk->inside = innermost_probe(walk);
            return walk->inside != NULL; /* the path is cut off, but the frame that began the probe is further out */
        }
        bool system = is_system(&walk->at, flags);
        leading = leading && system;
        system_count = system ? system_count + 1 : 0;
        path->keys[path->count++] = walk_key(&walk->at);
        if (unlikely(walk->has_probes) && is_around_probe(walk, &walk->at))
            return true;
    }
    walk->on_fiber = walk->have == UNWIND_END && find_fibers_task(walk);
    path->fiber = walk->on_fiber && walk->level.kind == ompt_task_implicit;
    if (walk->have == UNWIND_END && path->count && system_count == 0 && !walk->on_fiber)
        walk->have = UNWIND_BROKEN; /* no thread begins in user code: a frame without unwind information */
    path->truncated = walk->have == UNWIND_BROKEN;
    if (unlikely(path->truncated) && (walk->inside = innermost_probe(walk)))
        return true; /* the path is cut off, but the frame that began the probe is further out */
    if (walk->have == UNWIND_END)
        cut_start(path, system_count);
    if (path->count == 0 && (path->in_runtime || boundary)) {
        path->in_runtime = true;
        path->runtime_key = 0; /* no user code on the stack can have called an entry */
    }
    return boundary;
}

bool walk_leave_probe(struct walk *walk, struct path *path)
{
    walk->inside = NULL;
    walk->past_probe = true;
    next_frame(walk);
    bool boundary = walk_task(walk, path);
    walk->past_probe = false;
    return boundary;
}

bool walk_finds_code(struct thread *thread, uintptr_t low, uintptr_t high)
{
    struct unwind_frame frame;
    while (unwinder_next(&thread->unwinder, &frame) == UNWIND_FRAME)
        if (frame.ip >= low && frame.ip < high)
            return true;
    return false;
}

bool walk_finds_program(struct thread *thread)
{
    struct unwind_frame frame;
    enum unwind_result have;
    while ((have = unwinder_next(&thread->unwinder, &frame)) == UNWIND_FRAME) {
        uint32_t flags = flags_of(&frame);
        if (!(flags & (PROFILE_MODULE_RUNTIME | PROFILE_MODULE_TOOL)) && !is_system(&frame, flags))
            break;
    }
    return have != UNWIND_END;
}

void walk_init(void)
{
    program_entry = (uintptr_t)getauxval(AT_ENTRY);
}
