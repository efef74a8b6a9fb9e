/* The tool's hot paths. Most calls of a callback only load and store a few words of the thread's own cache
 * lines: no atomic read-modify-write on shared memory, no system call, no stack walk. A callback changes the
 * thread's tree only if the thread was sampled, and only between thread_enter_tool() and thread_leave_tool(). */
#include "ompt_tool/callbacks.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <omp-tools.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/invariant.h"
#include "blame/state_valid.h"
#include "cct/arena.h"
#include "cct/deferred/graft.h"
#include "include/blame.h"
#include "ompt_tool/life/attach.h"
#include "ompt_tool/capabilities.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/creation.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/context/probe_stack.h"
#include "ompt_tool/context/runtime.h"
#include "ompt_tool/context/task_word.h"
#include "ompt_tool/dependences.h"
#include "ompt_tool/sampling/fault.h"
#include "ompt_tool/life/finish.h"
#include "ompt_tool/first_thread.h"
#include "ompt_tool/life/fork.h"
#include "ompt_tool/helpers.h"
#include "ompt_tool/mutex.h"
#include "ompt_tool/probes/probes.h"
#include "ompt_tool/restart/bystander.h"
#include "ompt_tool/sampling/settle.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/sampling/sleeper.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/session/thread.h"
#include "ompt_tool/sampling/tracing.h"

/* Returns the profile's kind of wait place for OMPT's kind of synchronisation region. */
static inline uint32_t callback_wait_kind(ompt_sync_region_t kind)
{
    static const uint8_t kinds[] = {
        [ompt_sync_region_barrier] = PROFILE_PLACE_BARRIER,
        [ompt_sync_region_barrier_implicit] = PROFILE_PLACE_REGION_END,
        [ompt_sync_region_barrier_explicit] = PROFILE_PLACE_BARRIER,
        [ompt_sync_region_barrier_implementation] = PROFILE_PLACE_BARRIER,
        [ompt_sync_region_taskwait] = PROFILE_PLACE_TASKWAIT,
        [ompt_sync_region_taskgroup] = PROFILE_PLACE_TASKGROUP,
        [ompt_sync_region_reduction] = PROFILE_PLACE_REDUCTION,
        [ompt_sync_region_barrier_implicit_workshare] = PROFILE_PLACE_WORKSHARE,
        [ompt_sync_region_barrier_implicit_parallel] = PROFILE_PLACE_REGION_END,
        [ompt_sync_region_barrier_teams] = PROFILE_PLACE_REGION_END,
    };
    return (unsigned)kind < sizeof(kinds) ? kinds[kind] : PROFILE_PLACE_UNKNOWN;
}

static void on_thread_begin(ompt_thread_t type, ompt_data_t *thread_data)
{
    (void)thread_data;
    if (!fork_is_new() && thread_self && thread_self->record.plain) {
        thread_self->record.second = runtime_mark != 0;
        attach_join_teams(thread_self);
        return;
    }
    if (type == ompt_thread_other || fork_is_new() || fork_self())
        /* No record for a thread that never executes the program's code, nor for an event that the runtime
         * causes in a forked child, when it restarts within fork(). */
        return;
    /* the program makes initial threads, the runtime makes workers */
    bool initial = type == ompt_thread_initial || type == ompt_thread_unknown;
    struct thread *thread = attach_thread(initial ? PROFILE_THREAD_INITIAL : PROFILE_THREAD_WORKER);
    if (thread)
        thread->record.second = runtime_mark != 0;
    if (thread && initial)
        helpers_know_initial(thread);
}

void callbacks_notice_exit(void)
{
    struct thread *thread = thread_self;
    if (session.exits || !thread || thread->ledger->kind != PROFILE_THREAD_INITIAL || !thread_enter_tool(thread))
        return;
    session.exits = capture_process_exits(thread);
    thread_leave_tool(thread);
    if (session.exits)
        first_thread_exits();
}

static void on_thread_end(ompt_data_t *thread_data)
{
    (void)thread_data;
    callbacks_notice_exit();
    first_thread_ends();
    /* another runtime may end before the one that reported the thread's start */
    if (!thread_self || thread_self->record.second == (runtime_mark != 0))
        attach_end(thread_self);
}

static void callback_capture_eagerly(struct thread *thread, struct region *region)
{
    if (!thread_enter_tool(thread))
        return;
    capture_region_context(thread, region);
    thread_leave_tool(thread);
}

/* A thread's first region, which may be the program's first: from now on only threads of teams count. */
static __attribute__((noinline)) void callback_begin_teams(unsigned requested)
{
    uint32_t none = 0;
    if (!compare_exchange(&session.teams, &none, 1))
        return;
    bool asks = !requested && runtime.get_max_threads;
    store_relaxed(&state_expected, asks ? (uint32_t)runtime.get_max_threads() : requested);
    if (session.plain) {
        thread_set_others_outside();
        session.counts_cores = state_sleepers_count = false;
        arena_header()->without_team = 0;
    } else {
        thread_set_first_outside();
    }
    arena_header()->environment = (uint32_t)session.options.environment;
}

static void on_parallel_begin(ompt_data_t *task_data, const ompt_frame_t *task_frame, ompt_data_t *parallel_data,
                              unsigned requested, int flags, const void *codeptr)
{
    (void)flags;
    fork_notice();
    struct thread *thread = fork_self();
    if (likely(thread)) {
        sampler_watch(thread, clock_ticks());
        levels_fork(thread, task_data, task_frame);
    }
    parallel_data->value = 0;
    if (unlikely(!thread || thread->unusual.helper) && helpers_begin_team(thread, parallel_data))
        return;
    if (!thread)
        return;
    struct region *region = region_begin(&thread->regions, levels_region(thread), (uintptr_t)codeptr);
    if (unlikely(thread->regions.begun == 1)) {
        arena_header()->wants_region = 0;
        fault_watch();
        callback_begin_teams(requested);
        if (thread->awaits.aside) {
            if (sleeper_is(thread)) /* nobody was idle because of that sleep */
                sampler_wake(thread);
            thread_stand_aside(thread, false);
            state_set_work(thread->line);
        }
    }
    parallel_data->value = region_word(region);
    if (region && session.options.context == CONTEXT_EAGER)
        callback_capture_eagerly(thread, region);
}

static void callback_resolve(struct thread *thread, struct region *ended)
{
    if (!thread_enter_tool(thread))
        return;
    if (ended && region_needs_context(ended))
        capture_region_context(thread, ended);
    placeholders_resolve(&thread->placeholders, &thread->tree, GRAFT_STEPS);
    thread_leave_tool(thread);
}

static __attribute__((noinline)) void callback_end_team(struct thread *thread, struct region *region)
{
    thread_count_workers(thread, -(int32_t)region->workers);
    region->workers = 0;
}

static __attribute__((noinline)) void callback_end_nameless(struct thread *thread)
{
    struct region_pool *regions = &thread->regions;
    if (regions->nameless || !regions->nameless_workers)
        return;
    thread_count_workers(thread, -(int32_t)regions->nameless_workers);
    regions->nameless_workers = 0;
}

static void on_parallel_end(ompt_data_t *parallel_data, ompt_data_t *task_data, int flags, const void *codeptr)
{
    (void)parallel_data; /* the runtime may have freed its memory */
    (void)task_data, (void)flags, (void)codeptr;
    struct thread *thread = fork_self();
    if (!thread)
        return;
    levels_join(thread);
    struct region *region = region_close(&thread->regions);
    if (unlikely(!region)) {
        callback_end_nameless(thread);
        return;
    }
    if (unlikely(region_needs_context(region) || thread->placeholders.count))
        callback_resolve(thread, region);
    if (unlikely(region->workers))
        callback_end_team(thread, region);
    state_set_idle_region(thread->line, region_word(region->outer));
    state_set_work(thread->line);
    thread->construct.team = 0;
    if (unlikely(thread->noted))
        region_note_end(region, clock_ticks());
    thread->noted = false;
    region_end(region);
    INVARIANT(state_is_valid(thread->line, clock_ticks()));
}

static bool callback_is_idle(const struct thread *thread)
{
    return thread->line->state == STATE_IDLE;
}

/* Ends a wait during which a sample was taken, or during which the thread held locks that others may have
 * waited for. */
static void callback_end_hit_wait(struct thread *thread, const ompt_data_t *waiter, bool in_region)
{
    bool holds_locks = callback_is_idle(thread) && state_holds_locks(thread->line);
    if (in_region && waiter)
        levels_return_to(thread, waiter);
    if (thread->unusual.settles) {
        store_release(&thread->unusual.settles, 0);
        bystander_end(&thread->stands_by);
        if (!thread_enter_tool(thread))
            return;
        settle_wait(thread, in_region);
        thread_leave_tool(thread);
    }
    if (!holds_locks || session.options.locks == LOCKS_AT_RELEASE || !thread_enter_tool(thread))
        return;
    settle_held(thread, in_region);
    thread_leave_tool(thread);
}

/* Returns true if the thread waits at the end of a region that it has begun itself. Its wait is over before those of others. */
static bool callback_is_own(const struct thread *thread)
{
    const struct region *region = thread->line->region;
    return STATE_PLACE_KIND(thread->line->place) == PROFILE_PLACE_REGION_END && region &&
           region == thread->regions.open;
}

/* Does what the flags in thread->unusual ask for at the end of a wait. For most waits that is nothing. passes:
 * what the thread waited for is over; otherwise it only begins a task. */
static __attribute__((noinline)) void callback_end_wait(struct thread *thread, const ompt_data_t *waiter,
                                                        bool in_region, bool passes)
{
    if (thread->unusual.notes && callback_is_idle(thread)) {
        uint64_t now_ticks = clock_ticks();
        if (passes && !callback_is_own(thread))
            state_note_pass(thread->line, now_ticks);
        state_note_wait(thread->line, now_ticks);
        thread->noted = true;
    }
    thread->unusual.notes = false;
    if (thread->unusual.settles || thread->unusual.holds)
        callback_end_hit_wait(thread, waiter, in_region);
    thread->unusual.holds = false;
}

/* Ends the phases and parameters that the program began in the implicit task and did not end. */
static __attribute__((noinline)) void callback_end_probes(struct thread *thread, struct region *region)
{
    if (!thread->probes->count || !thread_enter_tool(thread))
        return;
    probes_end_region(thread, region);
    thread_leave_tool(thread);
}

/* If the thread has begun the region, counts the other threads of the team. libgomp keeps these for the next one only if the
 * region is an outermost one, and ends none of them for a team of one. */
static void callback_count_team(struct thread *thread, const ompt_data_t *parallel_data)
{
    struct region_pool *regions = &thread->regions;
    struct region *open = regions->open;
    uint32_t workers = thread->construct.team - 1;
    bool begun = regions->nameless || (open && runtime_region(parallel_data) == open);
    if (!runtime_is_libgomp() || !begun || !workers)
        return;
    if (regions->nameless && (open || regions->nameless > 1))
        regions->nameless_workers += workers;
    else if (!regions->nameless && open->outer)
        open->workers = workers = workers < UINT16_MAX ? workers : UINT16_MAX;
    else
        workers -= thread->record.workers;
    if (workers)
        thread_count_workers(thread, (int32_t)workers);
}

/* Returns true if the implicit task is a helper's first. */
static __attribute__((noinline)) bool callback_begin_unusually(struct thread *thread, const ompt_data_t *parallel_data)
{
    if (!thread->record.begun && helpers_begin_task(thread, parallel_data))
        return true;
    callback_count_team(thread, parallel_data);
    return false;
}

/* on_implicit_task() ends in a jump to one of the next three functions. They take the same parameters in the
 * same order, so no registers are saved. */
static __attribute__((noinline)) void callback_begin_implicit_task(struct thread *thread, ompt_data_t *parallel_data,
                                                                   ompt_data_t *task_data, unsigned team_size,
                                                                   unsigned thread_num, int flags)
{
    levels_begin(thread, task_data, runtime_region(parallel_data), thread_num, flags);
    if (unlikely(flags & ompt_task_initial))
        return;
    thread->construct.team = team_size;
    if (unlikely(!thread->record.usual) && callback_begin_unusually(thread, parallel_data))
        return;
    /* A new worker waits before its first task; the runtime does not report the end of that wait. */
    if (unlikely(thread->unusual.any))
        callback_end_wait(thread, NULL, false, true);
    state_set_work(thread->line);
    if (unlikely(thread->placeholders.count))
        callback_resolve(thread, NULL);
    if (unlikely(thread->dispatch.is_carried) && thread_enter_tool(thread)) {
        settle_carried(thread, runtime_region(parallel_data));
        thread_leave_tool(thread);
    }
}

static __attribute__((noinline)) void callback_end_implicit_task(struct thread *thread, unsigned thread_num, int flags)
{
    struct region *region = NULL;
    if ((flags & ompt_task_initial) && levels_are_others(thread))
        return;
    if (thread_num == 0 || (flags & ompt_task_initial))
        region = levels_end(thread);
    else
        levels_leave(thread);
    if (thread->probes && !(flags & ompt_task_initial))
        callback_end_probes(thread, region);
}

static __attribute__((noinline)) void callback_forked_implicit_task(ompt_scope_endpoint_t endpoint,
                                                                    ompt_data_t *parallel_data, ompt_data_t *task_data,
                                                                    unsigned team_size, unsigned thread_num, int flags)
{
    struct thread *thread = fork_self();
    if (thread && endpoint == ompt_scope_begin)
        callback_begin_implicit_task(thread, parallel_data, task_data, team_size, thread_num, flags);
    else if (thread)
        callback_end_implicit_task(thread, thread_num, flags);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
                             unsigned team_size, unsigned thread_num, int flags)
{
    struct thread *thread = thread_self;
    if (unlikely(!thread))
        callback_forked_implicit_task(endpoint, parallel_data, task_data, team_size, thread_num, flags);
    else if (endpoint == ompt_scope_begin)
        callback_begin_implicit_task(thread, parallel_data, task_data, team_size, thread_num, flags);
    else if (thread_num != 0 || !levels_end_simply(thread))
        callback_end_implicit_task(thread, thread_num, flags);
}

/* Notes the thread's worksharing construct. If the thread keeps others waiting, its samples record the
 * construct. */
static void on_work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel_data,
                    ompt_data_t *task_data, uint64_t pieces, const void *codeptr)
{
    (void)parallel_data, (void)task_data, (void)codeptr;
    struct thread *thread = thread_self;
    if (likely(thread))
        store_relaxed(&thread->construct.share, endpoint == ompt_scope_begin ? THREAD_SHARE(kind, pieces) : 0);
}

/* Returns the wait place, which combines the kind of wait with the return address of the waiting call. If a
 * function ends in a barrier, the compiler turns the call into a jump. The return address then lies in the
 * runtime and is replaced by 0 (unknown). */
static uint64_t callback_wait_place(uint32_t kind, const void *codeptr)
{
    bool in_runtime = (uintptr_t)codeptr - runtime.code_low < runtime.code_bytes;
    return STATE_PLACE(kind, in_runtime ? 0 : (uintptr_t)codeptr);
}

/* Returns the task's own data word, in which the waiting bit is set. For a taskgroup, libomp passes a copy of
 * that word, but task_schedule reads the original. */
static ompt_data_t *callback_waiting_task(ompt_sync_region_t kind, ompt_data_t *task_data)
{
    return unlikely(kind == ompt_sync_region_taskgroup) ? runtime_task_of_copy(task_data) : task_data;
}

/* Makes the thread idle. A thread that is not counted gets 0 as the start of its wait, so no census counts it
 * as busy during its grace. The flags are stored only when they become true: a byte that was stored just
 * before would slow down the load of the whole word at the end of a short wait. */
static inline void callback_become_idle_at(struct thread *thread, uint64_t now_ticks)
{
    struct state_line *line = thread->line;
    if (unlikely(now_ticks - line->idle_since > thread->notes_apart))
        thread->unusual.notes = true;
    if (unlikely(state_holds_locks(line)))
        thread->unusual.holds = true;
    state_set_idle(line, likely(!thread->unusual.uncounted) ? now_ticks : 0);
    sampler_watch(thread, now_ticks);
}

static __attribute__((noinline)) void callback_become_idle_by_clock(struct thread *thread)
{
    callback_become_idle_at(thread, clock_now_ns());
}

static inline void callback_become_idle(struct thread *thread)
{
    if (likely(clock_is_counter))
        callback_become_idle_at(thread, clock_ticks());
    else
        callback_become_idle_by_clock(thread);
}

static inline __attribute__((always_inline)) void callback_begin_wait(struct thread *thread, uint32_t place,
                                                                      const ompt_data_t *parallel_data,
                                                                      ompt_data_t *task_data, const void *codeptr,
                                                                      uint64_t barrier)
{
    if (likely(task_data))
        task_word_set_wait(&task_data->value, TASK_WAIT(place));
    /* Notes the first barrier behind other waits, however soon it follows them: this thread may be the last to
     * arrive there. */
    if (state_is_barrier(place) && unlikely(!state_is_barrier(STATE_PLACE_KIND(thread->line->place))))
        thread->unusual.notes = true;
    state_set_idle_region(thread->line, runtime_region_word(parallel_data));
    state_set_place(thread->line, callback_wait_place(place, codeptr) | barrier);
    callback_become_idle(thread);
}

static __attribute__((noinline)) void callback_begin_wait_slowly(ompt_sync_region_t kind, ompt_data_t *parallel_data,
                                                                 ompt_data_t *task_data, const void *codeptr)
{
    struct thread *thread = fork_self();
    uint32_t place = callback_wait_kind(kind);
    if (!thread)
        return;
    if (unlikely(sleeper_is(thread)))
        sampler_wake(thread);
    if (thread->probes && place == PROFILE_PLACE_REGION_END && runtime_region(parallel_data))
        callback_end_probes(thread, runtime_region(parallel_data)); /* a worker's implicit task ends with this wait */
    if (thread->placeholders.count && place != PROFILE_PLACE_TASKWAIT)
        callback_resolve(thread, NULL); /* Done now, because the program may be killed during the wait. */
    callback_begin_wait(thread, place, parallel_data, callback_waiting_task(kind, task_data), codeptr,
                        state_is_barrier(place) ? levels_next_barrier(thread) : 0);
}

/* Begins any wait other than a taskwait. */
static __attribute__((noinline)) void callback_begin_other_wait(ompt_sync_region_t kind, ompt_data_t *parallel_data,
                                                                ompt_data_t *task_data, const void *codeptr)
{
    struct thread *thread = thread_self;
    uint32_t place = callback_wait_kind(kind);
    if (unlikely(!thread || kind == ompt_sync_region_taskgroup || thread->probes || thread->placeholders.count))
        callback_begin_wait_slowly(kind, parallel_data, task_data, codeptr);
    else
        callback_begin_wait(thread, place, parallel_data, task_data, codeptr,
                            state_is_barrier(place) ? levels_next_barrier(thread) : 0);
}

static __attribute__((noinline)) void callback_end_wait_slowly(ompt_sync_region_t kind,
                                                               const ompt_data_t *parallel_data, ompt_data_t *task_data)
{
    struct thread *thread = fork_self();
    if (!thread)
        return;
    task_data = callback_waiting_task(kind, task_data);
    if (task_data)
        task_word_set_wait(&task_data->value, 0);
    if (thread->unusual.any)
        callback_end_wait(thread, task_data, parallel_data != NULL, true);
    if (!parallel_data)
        levels_leave(thread);
    if (!thread->unusual.uncounted) /* a helper thread works only while it executes a task */
        state_set_work(thread->line);
}

static void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel_data,
                                ompt_data_t *task_data, const void *codeptr)
{
    struct thread *thread = thread_self;
    if (endpoint == ompt_scope_begin) {
        if (likely(kind == ompt_sync_region_taskwait) && likely(thread))
            callback_begin_wait(thread, PROFILE_PLACE_TASKWAIT, parallel_data, task_data, codeptr, 0);
        else
            callback_begin_other_wait(kind, parallel_data, task_data, codeptr);
        return;
    }
    bool usual = thread && parallel_data && task_data && kind != ompt_sync_region_taskgroup;
    if (likely(usual) && likely(!thread->unusual.any)) {
        task_word_set_wait(&task_data->value, 0);
        state_set_work(thread->line);
    } else {
        callback_end_wait_slowly(kind, parallel_data, task_data);
    }
}

/* Sets the thread's state for a task that it continues. If that task waits, the address in its wait place is
 * unknown: the thread may have executed other tasks meanwhile, which waited elsewhere. */
static inline void callback_follow_task(struct thread *thread, uint64_t word)
{
    if (word & TASK_WAITING) {
        state_set_place(thread->line, STATE_PLACE(TASK_WAIT_KIND(word), 0) | levels_barrier(thread));
        callback_become_idle(thread);
    } else {
        state_set_work(thread->line);
    }
}

/* Handles the task_schedule events that need more than the few stores of the common path. */
static __attribute__((noinline)) void callback_schedule_slowly(ompt_data_t *prior, ompt_task_status_t status,
                                                               ompt_data_t *next)
{
    struct thread *thread = fork_self();
    if (status == ompt_task_detach)
        store_relaxed(&state_waits_outside, true);
    if (!thread)
        return;
    /* before levels_schedule(), while the waiting task is still the innermost one */
    callback_end_wait(thread, prior, true, false);
    if (!levels_schedule(thread, prior, status, next) && !helpers_schedule(thread, prior, status, next)) {
        callback_become_idle(thread);
        return;
    }
    if (thread->unusual.helper)
        thread_count(thread, !(next->value & TASK_WAITING));
    callback_follow_task(thread, next->value);
}

/* Ends a task of another team that the thread has executed while it was in no region. The thread then has no
 * task to continue and becomes idle. */
static __attribute__((noinline)) void callback_leave_task(ompt_data_t *prior, ompt_task_status_t status)
{
    struct thread *thread = thread_self;
    if (!thread || !levels_status_ends(status) || !levels_end_task(thread, prior))
        return;
    if (helpers_is_agent(thread))
        thread_count(thread, false);
    state_set_place(thread->line, STATE_PLACE(PROFILE_PLACE_UNKNOWN, 0));
    callback_become_idle(thread);
}

/* Begins or ends a wait for dependences, at a taskwait with depend clauses or before an undeferred task. The
 * runtime reports such a wait as a task that is created and completed but never scheduled. */
static __attribute__((noinline)) void callback_wait_for_dependences(ompt_scope_endpoint_t endpoint, ompt_data_t *waiter,
                                                                    const void *codeptr)
{
    struct thread *thread = fork_self();
    ompt_data_t parallel = {.value = thread ? region_word(levels_region(thread)) : 0};
    on_sync_region_wait(ompt_sync_region_taskwait, endpoint, &parallel, waiter, codeptr);
}

static bool creations_are_told; /* whether the runtime calls on_task_create() */

static void on_task_create(ompt_data_t *creator, const ompt_frame_t *frame, ompt_data_t *task, int flags,
                           int has_dependences, const void *codeptr)
{
    (void)frame, (void)task, (void)has_dependences;
    if (unlikely(flags & ompt_task_taskwait))
        callback_wait_for_dependences(ompt_scope_begin, creator, codeptr);
}

/* Ends a wait for dependences. If on_task_create() was not registered, the start of this first wait was not
 * reported, and its samples count as <untold wait>. Registers it for later waits. */
static __attribute__((noinline)) void callback_end_wait_for_dependences(void)
{
    if (unlikely(!load_relaxed(&creations_are_told))) {
        store_relaxed(&creations_are_told, true);
        runtime.set_callback(ompt_callback_task_create, (ompt_callback_t)on_task_create);
    }
    callback_wait_for_dependences(ompt_scope_end, runtime_current_task(NULL), NULL);
}

static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
    struct thread *thread = thread_self;
    if (!next) {
        if (status == ompt_taskwait_complete)
            callback_end_wait_for_dependences();
        else
            callback_leave_task(prior, status);
        return;
    }
    if (unlikely(!thread || thread->unusual.any || !levels_schedule(thread, prior, status, next)))
        callback_schedule_slowly(prior, status, next);
    else
        callback_follow_task(thread, next->value);
}

/* Handles task_create if BLAME_TASKS=creation: stores the task's creation context in the task's word. */
static void on_task_creation(ompt_data_t *creator, const ompt_frame_t *frame, ompt_data_t *task, int flags,
                             int has_dependences, const void *codeptr)
{
    struct thread *thread = fork_self();
    if (unlikely(!thread || !task || !(flags & ompt_task_explicit))) {
        on_task_create(creator, frame, task, flags, has_dependences, codeptr);
        return;
    }
    struct creation creation = {
        .creator = likely(creator) ? task_word_context(creator->value) : 0,
        .task = task,
        .frame = frame,
        .flags = flags,
        .codeptr = (uintptr_t)codeptr,
    };
    task->value = task_word(creation_context(thread, &creation));
}

/* ---- omp_control_tool(): the standard's commands, and BLAME_COMMAND, with which include/blame.h asks for
 * the functions that it calls. Start and pause switch the measurement on and off, or only the trace if the
 * modifier is BLAME_TRACE. Flush writes the file to disk. End finishes the profile. ---- */

/* The values of omp_control_tool_t and omp_control_tool_result_t in omp.h, which only programs include. */
enum { START = 1, PAUSE = 2, FLUSH = 3, END = 4 };
enum { DONE = 0, IGNORED = 1, FAILED = -1 };

static int control_tool_give_calls(uint64_t known_bytes, void *argument)
{
    const struct blame_calls **calls = argument;
    if (!calls || known_bytes < sizeof(struct blame_calls))
        return FAILED;
    *calls = &probes_calls;
    return DONE;
}

/* Pauses or continues the measurement, or only the trace. */
static int control_tool_pause(bool pause, uint64_t modifier)
{
    bool changed = modifier == BLAME_TRACE ? tracing_switch(!pause) : session_pause(pause);
    return changed ? DONE : IGNORED;
}

static int control_tool_end(void)
{
    struct profile_header *header = arena_header();
    if (!arena_is_open() || !header)
        return IGNORED;
    int saved_errno = errno;
    header->ended_by_program = 1;
    finish_measuring();
    errno = saved_errno;
    return DONE;
}

/* Carries out a command of omp_control_tool(). Returns DONE, IGNORED or FAILED. */
static int on_control_tool(uint64_t command, uint64_t modifier, void *argument, const void *codeptr)
{
    (void)codeptr;
    switch (command) {
    case START:
        return control_tool_pause(false, modifier);
    case PAUSE:
        return control_tool_pause(true, modifier);
    case FLUSH:
        session_record_modules();
        return arena_flush() ? DONE : FAILED;
    case END:
        return control_tool_end();
    case BLAME_COMMAND:
        return control_tool_give_calls(modifier, argument);
    default:
        return IGNORED;
    }
}

/* ---- the second runtime of a process: the same callbacks, while runtime_mark says whose event it is ---- */

#define SECOND(name, parameters, arguments)                                                                            \
    static void second_##name parameters                                                                               \
    {                                                                                                                  \
        runtime_mark = LEVEL_SECOND;                                                                                   \
        name arguments;                                                                                                \
        runtime_mark = 0;                                                                                              \
    }

SECOND(on_thread_begin, (ompt_thread_t type, ompt_data_t *thread_data), (type, thread_data))
SECOND(on_thread_end, (ompt_data_t * thread_data), (thread_data))
SECOND(on_parallel_begin,
       (ompt_data_t * task_data, const ompt_frame_t *frame, ompt_data_t *parallel_data, unsigned requested, int flags,
        const void *codeptr),
       (task_data, frame, parallel_data, requested, flags, codeptr))
SECOND(on_parallel_end, (ompt_data_t * parallel_data, ompt_data_t *task_data, int flags, const void *codeptr),
       (parallel_data, task_data, flags, codeptr))
SECOND(on_implicit_task,
       (ompt_scope_endpoint_t endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data, unsigned team_size,
        unsigned thread_num, int flags),
       (endpoint, parallel_data, task_data, team_size, thread_num, flags))
SECOND(on_sync_region_wait,
       (ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel_data, ompt_data_t *task_data,
        const void *codeptr),
       (kind, endpoint, parallel_data, task_data, codeptr))
SECOND(on_task_create,
       (ompt_data_t * creator, const ompt_frame_t *frame, ompt_data_t *task, int flags, int has_dependences,
        const void *codeptr),
       (creator, frame, task, flags, has_dependences, codeptr))
SECOND(on_task_creation,
       (ompt_data_t * creator, const ompt_frame_t *frame, ompt_data_t *task, int flags, int has_dependences,
        const void *codeptr),
       (creator, frame, task, flags, has_dependences, codeptr))
SECOND(on_task_schedule, (ompt_data_t * prior, ompt_task_status_t status, ompt_data_t *next), (prior, status, next))

/* A callback of this file, for the runtime that is registered. */
#define OWN(name) (ompt_callback_t)(second ? second_##name : name)

static bool callbacks_register_all(ompt_set_callback_t set_callback, bool second, bool locks, bool *waits, char *text,
                                   size_t bytes)
{
    bool creation = session.options.tasks == TASKS_CREATION;
    const struct capability all[] = {
        {ompt_callback_thread_begin, OWN(on_thread_begin)},
        {ompt_callback_thread_end, OWN(on_thread_end)},
        {ompt_callback_parallel_begin, OWN(on_parallel_begin)},
        {ompt_callback_parallel_end, OWN(on_parallel_end)},
        {ompt_callback_implicit_task, OWN(on_implicit_task)},
        {ompt_callback_work, (ompt_callback_t)on_work},
        {ompt_callback_sync_region_wait, OWN(on_sync_region_wait)},
        {ompt_callback_task_create, creation ? OWN(on_task_creation) : OWN(on_task_create)},
        {ompt_callback_task_schedule, OWN(on_task_schedule)},
        {ompt_callback_mutex_acquire, (ompt_callback_t)mutex_acquire},
        {ompt_callback_mutex_acquired, (ompt_callback_t)mutex_acquired},
        {ompt_callback_mutex_released, (ompt_callback_t)mutex_released},
        {ompt_callback_nest_lock, (ompt_callback_t)mutex_nest_lock},
        {ompt_callback_lock_init, (ompt_callback_t)mutex_init},
        {ompt_callback_lock_destroy, (ompt_callback_t)mutex_destroy},
        {ompt_callback_control_tool, (ompt_callback_t)on_control_tool},
    };
    const struct capability_table table = {all, sizeof(all) / sizeof(*all), locks};
    return capabilities_register(set_callback, &table, waits, text, bytes);
}

bool callbacks_register_second(ompt_set_callback_t set_callback, bool locks, char *text, size_t bytes)
{
    bool waits;
    return callbacks_register_all(set_callback, true, locks, &waits, text, bytes);
}

bool callbacks_register(bool locks, char *text, size_t bytes)
{
    bool waits, any = callbacks_register_all(runtime.set_callback, false, locks, &waits, text, bytes);
    creations_are_told = session.options.tasks == TASKS_CREATION || dependences_are_waited_for();
    if (!creations_are_told)
        runtime.set_callback(ompt_callback_task_create, NULL);
    /* Without wait events, samples still count for a region after a thread has left it. If the region has
     * ended, its context can no longer be captured then. */
    if (!waits)
        session.options.context = CONTEXT_EAGER;
    return any;
}
