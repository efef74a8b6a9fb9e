#include "ompt_tool/context/walk.h"

#include <omp-tools.h>
#include <stddef.h>
#include <sys/auxv.h>

#include "base/atomics.h"
#include "ompt_tool/context/creation_memo.h"
#include "ompt_tool/context/probe_stack.h"
#include "ompt_tool/session/session.h"
#include "unwind/python.h"

#define MAX_LEVELS  64 /* maximum number of levels that one walk examines */
#define ENTRY_BYTES 64 /* size of _start in bytes; on some systems it has no unwind information */

static uintptr_t program_entry;
static uint32_t own_module_id; /* this library's */

static uint32_t walk_frame_module_flags(const struct unwind_frame *frame)
{
    return frame->module ? frame->module->flags : 0;
}

/* Returns true if the frame is in this library. It calls the program's functions nowhere, so what the frame calls is the
 * tool's own doing, such as setting the timer of a new thread. */
static bool walk_is_in_tool(const struct unwind_frame *frame)
{
    return frame->range && frame->range->module_id == own_module_id;
}

uint64_t walk_key(const struct unwind_frame *frame)
{
    if (!frame->range)
        return PROFILE_KEY(0, frame->ip);
    return PROFILE_KEY(frame->range->module_id, frame->ip - frame->range->load_bias);
}

static void walk_next_frame(struct walk *walk)
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

static bool walk_skip_stale_level(struct walk *walk)
{
    if (!walk->has_stale)
        walk->stale = walk->level, walk->stale_place = walk->place;
    walk->has_stale = true;
    return walk_next_level(walk);
}

/* Returns true if no frame of this stack can contain the level's exit address. The exit address of a task
 * with if(0) may be the program's rbp, if the program was compiled by Clang and calls the task's code itself. */
static bool walk_has_foreign_exit(const struct walk *walk)
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
    walk->in_lock = false;
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
    /* skip tasks outside all regions: they execute where they were created, so their callers are on this
     * stack */
    do
        walk_next_level(walk);
    while (walk->has_level && walk->level.kind == ompt_task_explicit && !walk->level.region);
    /* Levels whose exit address is below the stack pointer are skipped. A serialised region or an undeferred
     * task leaves behind such an address, which was in a frame that has returned. The task to which this
     * stack belongs is the next one outward. */
    while (walk->has_level && walk_has_foreign_exit(walk) && walk_skip_stale_level(walk))
        ;
    walk_next_frame(walk);
}

static bool walk_has_exit_on_stack(const struct walk *walk)
{
    return walk->has_level && walk->level.exit >= walk->stack_low && walk->level.exit < walk->stack_high;
}

/* Returns true if the frame belongs to the runtime and called the code of the next outer task, and the walk's
 * own task has no frame on the stack, because it has not begun yet or is part of a league. The walk then
 * continues with that outer task. */
static bool walk_is_boundary_of_outer_task(struct walk *walk, const struct unwind_frame *frame)
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

/* Returns true if a frame of the runtime after user code is a boundary although the task's exit address is
 * missing or stale. GOMP_parallel_loop_* set no exit address for the primary thread, but the runtime's frame
 * that called the region's body is on the stack. While a region is being created, its task has neither an
 * exit address nor a frame, so the frame is the boundary of the next outer task. (A region that Clang's code
 * has serialised has no such frame: user code calls its body.) */
static bool walk_is_unmarked_task_boundary(struct walk *walk, const struct unwind_frame *frame)
{
    if (walk->has_stale) {
        walk->level = walk->stale;
        walk->place = walk->stale_place;
        walk->has_level = true;
        walk->has_stale = false;
        return true;
    }
    return walk_is_boundary_of_outer_task(walk, frame) ||
           (walk->has_level && !walk->level.exit && walk->level.kind != ompt_task_initial);
}

/* Returns true if the frame belongs to the runtime and called the code of the walk's current task. An exit
 * address inside a frame of user code is stale (see walk_begin). */
static bool walk_is_task_boundary(struct walk *walk, const struct unwind_frame *frame, bool runtime_frame, bool leading)
{
    while (walk_has_exit_on_stack(walk) && frame->cfa > walk->level.exit) {
        if (runtime_frame && walk->level.exit >= frame->stack)
            return true;
        if (!walk_skip_stale_level(walk))
            break;
    }
    return runtime_frame &&
           (leading ? walk_is_boundary_of_outer_task(walk, frame) : walk_is_unmarked_task_boundary(walk, frame));
}

/* Returns true for frames that only start the program's own code: those of the loader, of _start and
 * __libc_start_main, and of a thread's start function in libc. */
static bool walk_is_system_frame(const struct unwind_frame *frame, uint32_t flags)
{
    return (flags & PROFILE_MODULE_SYSTEM) || frame->ip - program_entry < ENTRY_BYTES;
}

/* If the path reached the end of the stack, removes from its outer end the frames that only start the thread
 * or the program. */
static void path_cut_system_start(struct path *path, size_t system_count)
{
    if (system_count < path->count || path->in_runtime)
        path->count -= system_count;
    else if (path->count)
        path->count = 1; /* if all frames belong to the system, the innermost one is the most useful */
}

static bool walk_is_on_threads_own_stack(const struct walk *walk, uintptr_t address)
{
    return address >= walk->unwinder->own_stack_low && address < walk->unwinder->own_stack_high;
}

/* Returns true if the frame that called the task's code is not on the stack that was walked. An exit address
 * below the walked frames may be stale, but not while the thread is in a team of several threads, because
 * only regions of one thread are serialised. */
static bool walk_task_is_on_other_stack(const struct walk *walk, const struct task_level *level,
                                        const struct level *place)
{
    bool runs_team = place == load_relaxed(&walk->thread->level) && walk->thread->construct.team > 1;
    bool is_above = level->exit > walk->at.stack, is_below = level->exit && level->exit < walk->stack_low;
    return walk_is_on_threads_own_stack(walk, level->exit) ||
           (level->kind == ompt_task_implicit && (is_above || (is_below && runs_team)));
}

/* Finds the task that runs on a fiber. The path ends where the fiber began, and does not contain the frame
 * that called the task's code. That frame is on the thread's own stack, or on another stack further outward. */
static bool walk_find_task_of_fiber(struct walk *walk)
{
    struct task_level level;
    const struct level *place = load_relaxed(&walk->thread->level);
    if (walk_is_on_threads_own_stack(walk, walk->stack_low) || walk_is_on_threads_own_stack(walk, walk->at.stack))
        return false;
    for (uint32_t passed = 0; passed < MAX_LEVELS && levels_read(walk->thread, place, &level); passed++, place--) {
        bool elsewhere = walk_task_is_on_other_stack(walk, &level, place);
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

static void path_take_runtime_frame(struct path *path, const struct unwind_frame *frame)
{
    path->in_runtime = true;
    /* each frame of the runtime overwrites this, so the last one, the entry point that user code called,
     * remains */
    path->runtime_key = walk_key(frame);
    path->count = 0; /* time in functions that the runtime called counts as the runtime's time */
}

/* Returns true if the probe may be an open probe of the walk's task. The walk may learn late which task is
 * its own, because it may be a level that the walk skipped as stale. */
static bool probe_may_be_of_walk(const struct walk *walk, const struct probe_open *probe)
{
    return !walk->has_level || probe->task.region == walk->level.region ||
           (walk->has_stale && probe->task.region == walk->stale.region);
}

/* Returns the innermost open probe of the walk's task; NULL if there is none. */
static struct probe_open *walk_innermost_probe(struct walk *walk)
{
    struct probes *probes = walk->thread->probes;
    if (likely(!walk->has_probes) || walk->past_probe)
        return NULL;
    uint32_t count = load_relaxed(&probes->count);
    if (walk->probe_place != walk->place || walk->probe_stale != walk->has_stale) {
        while (count > 0 && !probe_may_be_of_walk(walk, &probes->open[count - 1]))
            count--;
        walk->probe = count > 0 && probes->open[count - 1].context ? &probes->open[count - 1] : NULL;
        walk->probe_place = walk->place;
        walk->probe_stale = walk->has_stale;
    }
    return walk->probe;
}

/* Returns true if the frame belongs to the function that began the innermost probe, or is further outward.
 * The rest of the path is then known. Sets walk->inside. */
static bool walk_reaches_probe(struct walk *walk, const struct unwind_frame *frame)
{
    struct probe_open *probe = walk_innermost_probe(walk);
    if (!probe || frame->cfa <= probe->stack)
        return false;
    walk->inside = probe;
    return true;
}

/* Adds a frame of the interpreter itself that is not a call of its loop. Such frames mean nothing to the
 * author of a script. If the next frame is a call of the loop, path_take_interpreter_loop() removes them
 * again. */
static void path_take_interpreter_glue(struct walk *walk, struct path *path)
{
    struct walk_python *python = &walk->python_path;
    bool is_next = python->end == path->count;
    if (python->found && is_next && python->glue == 0)
        return; /* this frame called the loop, so it does not belong to the script */
    python->glue = is_next ? python->glue + 1 : 1;
    path->keys[path->count++] = walk_key(&walk->at);
    python->end = path->count;
}

static bool walk_next_script_frame(struct walk *walk, struct python_place *place)
{
    if (walk->in_r)
        return r_next(&walk->r, place, &walk->python.broken);
    return python_next(&walk->python, walk->unwinder, place);
}

/* Replaces a call of the interpreter's loop by the frames of the script that this call executes. */
static void path_take_interpreter_loop(struct walk *walk, struct path *path)
{
    struct walk_python *python = &walk->python_path;
    struct python_place place;
    size_t most = (size_t)session.options.depth;
    if (python->end == path->count)
        path->count -= python->glue;
    while (path->count < most && walk_next_script_frame(walk, &place))
        path->keys[path->count++] = PROFILE_KEY(place.module_id, place.line);
    if (walk->python.broken && path->count < most)
        path->keys[path->count++] = walk_key(&walk->at);
    *python = (struct walk_python){.found = true, .end = path->count};
    walk->python.waits = false; /* the frames further outward do not belong to this wait */
    /* the memo compares only the stack, which does not contain the script's frames */
    if (walk->memo)
        creation_memo_spoil(walk->memo);
}

static void walk_begin_interpreters(struct walk *walk)
{
    const struct core *core = &walk->thread->core;
    python_begin(&walk->python, walk->unwinder, core->now.state == CORE_ASLEEP && core->now.in_call);
    r_begin(&walk->r);
}

/* Adds a frame of the interpreter. Returns false if the frame must be handled like any other. */
static __attribute__((noinline)) bool walk_take_python_frame(struct walk *walk, struct path *path)
{
    if (path->count == (size_t)session.options.depth ||
        walk_is_system_frame(&walk->at, walk_frame_module_flags(&walk->at)))
        return false;
    if (!walk->python.begun)
        walk_begin_interpreters(walk);
    walk->in_r = (walk_frame_module_flags(&walk->at) & PROFILE_MODULE_R) != 0;
    enum python_kind kind =
        walk->in_r ? r_meet(&walk->r, &walk->at) : python_meet(&walk->python, walk->unwinder, &walk->at);
    if (walk->python.waits)
        path->count = 0; /* the inner frames are dropped, because the wait has a row of its own */
    if (kind == PYTHON_GLUE && !walk->python.waits)
        path_take_interpreter_glue(walk, path);
    else if (kind == PYTHON_LOOP)
        path_take_interpreter_loop(walk, path);
    return kind != PYTHON_NONE;
}

bool walk_task(struct walk *walk, struct path *path)
{
    bool leading = !walk->past_probe, boundary = false;
    size_t system_count = 0; /* number of system frames at the outer end of the path so far */
    walk->python_path = (struct walk_python){0};
    *path = (struct path){.keys = path->keys};
    for (; walk->have == UNWIND_FRAME; walk_next_frame(walk)) {
        uint32_t flags = walk_frame_module_flags(&walk->at);
        bool runtime_frame = (flags & PROFILE_MODULE_RUNTIME) != 0;
        if ((boundary = walk_is_task_boundary(walk, &walk->at, runtime_frame, leading)))
            break;
        if (runtime_frame && leading) {
            path_take_runtime_frame(path, &walk->at);
            system_count = 0;
        }
        if (flags & (PROFILE_MODULE_RUNTIME | PROFILE_MODULE_TOOL | PROFILE_MODULE_INTERPRETER)) {
            if (!(flags & PROFILE_MODULE_INTERPRETER)) {
                if (leading && (walk->in_lock || walk_is_in_tool(&walk->at)))
                    path->count = system_count = 0;
                continue;
            }
            if (walk_take_python_frame(walk, path)) {
                leading = false;
                system_count = 0;
                if (unlikely(walk->has_probes) && walk_reaches_probe(walk, &walk->at))
                    return true;
                continue;
            }
        }
        if (path->count == (size_t)session.options.depth) {
            path->truncated = true;
            walk->inside = walk_innermost_probe(walk);
            /* the path was truncated by BLAME_DEPTH before the function that began the probe */
            return walk->inside != NULL;
        }
        bool system = walk_is_system_frame(&walk->at, flags);
        leading = leading && system;
        system_count = system ? system_count + 1 : 0;
        path->keys[path->count++] = walk_key(&walk->at);
        if (unlikely(walk->has_probes) && walk_reaches_probe(walk, &walk->at))
            return true;
    }
    walk->on_fiber = walk->have == UNWIND_END && walk_find_task_of_fiber(walk);
    path->fiber = walk->on_fiber && walk->level.kind == ompt_task_implicit;
    if (walk->have == UNWIND_END && path->count && system_count == 0 && !walk->on_fiber)
        /* no thread begins in user code, so the last frame must have lacked unwind information */
        walk->have = UNWIND_BROKEN;
    path->truncated = walk->have == UNWIND_BROKEN;
    if (unlikely(path->truncated) && (walk->inside = walk_innermost_probe(walk)))
        return true; /* the unwinder failed before it reached the function that began the probe */
    if (walk->have == UNWIND_END)
        path_cut_system_start(path, system_count);
    if (path->count == 0 && (path->in_runtime || boundary)) {
        path->in_runtime = true;
        path->runtime_key = 0; /* on this stack, no user code called the runtime */
    }
    return boundary;
}

bool walk_leave_probe(struct walk *walk, struct path *path)
{
    walk->inside = NULL;
    walk->past_probe = true;
    walk_next_frame(walk);
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
        uint32_t flags = walk_frame_module_flags(&frame);
        if (!(flags & (PROFILE_MODULE_RUNTIME | PROFILE_MODULE_TOOL)) && !walk_is_system_frame(&frame, flags))
            break;
    }
    return have != UNWIND_END;
}

void walk_init(void)
{
    const struct loadmap_range *own = loadmap_find((uintptr_t)&walk_key);
    program_entry = (uintptr_t)getauxval(AT_ENTRY);
    own_module_id = own ? own->module_id : 0;
}
