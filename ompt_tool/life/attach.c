#include "ompt_tool/life/attach.h"

#include <errno.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/float_state.h"
#include "base/invariant.h"
#include "blame/ranks.h"
#include "blame/state_valid.h"
#include "cct/arena.h"
#include "cct/tree_valid.h"
#include "ompt_tool/context/levels.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/counters/counters_plan.h"
#include "ompt_tool/ranks/mpi_wait.h"
#include "ompt_tool/probes/probes.h"
#include "ompt_tool/restart/bystander.h"
#include "ompt_tool/sampling/settle.h"
#include "ompt_tool/sampling/sleeper.h"
#include "ompt_tool/sampling/sampler.h"
#include "ompt_tool/sampling/timer.h"
#include "ompt_tool/session/core.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/sampling/tracing.h"

/* Number of initial threads. As long as a rank has one, the rank is sampled whatever it does. After the last
 * one has ended, the runtime waits for its workers. */
static uint32_t initial_threads;

static bool attach_is_initial(const struct thread *thread)
{
    return thread->ledger->kind == PROFILE_THREAD_INITIAL;
}

/* As long as there are no teams, no thread is idle because it has no part in one. */
static void attach_beside_teams(struct thread *thread)
{
    state_set_outside(thread->line);
    if (load_seq_cst(&session.teams))
        return;
    arena_header()->environment = ENVIRONMENT_SHARED;
    if (load_seq_cst(&session.teams)) /* the first team has begun meanwhile */
        arena_header()->environment = (uint32_t)session.options.environment;
}

/* Makes a thread of the runtime one that no census counts. */
static void attach_park(struct state_line *line)
{
    state_set_idle_region(line, 0);
    state_set_idle(line, 0);
}

/* Sets what the new thread does until an event tells: it waits and is not counted yet, or it works. A POSIX thread of a
 * program that has teams, or began with an OpenMP runtime, works beside them. */
static void attach_set_state(struct thread *thread, bool plain)
{
    bool outside =
        plain && (!session.plain || load_acquire(&session.teams)) && thread->ledger->kind == PROFILE_THREAD_OTHER;
    thread->record.plain = plain;
    store_relaxed(&thread->line->tid, (int32_t)thread->ledger->tid);
    if (plain) {
        thread->line->began = clock_ticks();
        state_set_work(thread->line);
        if (outside)
            attach_beside_teams(thread);
        else
            thread_count(thread, true);
    } else {
        attach_park(thread->line);
    }
    thread->unusual.notes = true;
}

static void attach_note_initial(void)
{
    if (fetch_add_acq_rel(&initial_threads, 1) == 0)
        ranks_appear();
}

static __attribute__((noinline)) struct thread *attach_now(enum profile_thread_kind kind, uintptr_t stack, bool plain)
{
    struct thread *thread = thread_take(kind);
    if (!thread)
        return NULL;
    /* with other clocks, threads without a core are not sampled */
    if (session.options.clock == CLOCK_WALL && !counters_plan_sample_period_ns()) {
        core_begin(&thread->core, thread->line, &thread->sampling.moments, thread->ledger);
        stopped_begin(&thread->core);
    }
    crowd_grows(thread_sampled());
    levels_clear(thread);
    thread->regions.open = NULL; /* regions that the record's previous owner left open never end */
    thread->regions.nameless = thread->regions.nameless_workers = 0;
    probes_attach(thread);
    unwinder_attach(&thread->unwinder, stack);
    restart_state_init(&thread->restart, sampler_signals());
    attach_set_state(thread, plain);
    signal_fence();
    counters_attach(thread);
    thread_self = thread;
    thread_line = thread->line;
    if (attach_is_initial(thread))
        attach_note_initial();
    sampler_start(thread);
    return thread;
}

static struct thread *attach_gently(enum profile_thread_kind kind, uintptr_t stack, bool plain)
{
    int saved_errno = errno; /* the program may read errno after its thread's first OpenMP call */
    struct float_state floats = float_begin();
    struct thread *thread = attach_now(kind, stack, plain);
    float_end(floats);
    errno = saved_errno;
    return thread;
}

struct thread *attach_thread(enum profile_thread_kind kind)
{
    return attach_gently(kind, (uintptr_t)__builtin_frame_address(0), false);
}

struct thread *attach_plain_thread(enum profile_thread_kind kind, uintptr_t stack)
{
    return attach_gently(kind, stack, true);
}

void attach_join_teams(struct thread *thread)
{
    if (sleeper_is(thread)) /* nobody was idle because of that sleep */
        sampler_wake(thread);
    thread->record.plain = false;
    thread_count(thread, true);
    state_set_work(thread->line);
    if (session.plain || thread->ledger->kind != PROFILE_THREAD_OTHER)
        return;
    store_release(&thread->ledger->kind, (uint32_t)PROFILE_THREAD_INITIAL);
    attach_note_initial();
}

static __attribute__((noinline)) void attach_end_now(struct thread *thread)
{
    if (attach_is_initial(thread) && fetch_sub_acq_rel(&initial_threads, 1) == 1)
        ranks_disappear();
    sampler_stop(thread);
    if (!thread->line->began)
        attach_park(thread->line); /* what follows may take a while, on a busy machine */
    mpi_wait_forget(thread);
    bystander_end(&thread->stands_by);
    if (thread_enter_tool(thread)) {
        probes_end_all(thread);
        sampler_settle_sleep(thread, clock_now_ns());
        settle_rest(thread);
        placeholders_resolve(&thread->placeholders, &thread->tree, UINT64_MAX);
        tracing_flush(thread);
        counters_settle(thread);
        counters_detach(thread);
        thread_note_run_times(thread);
        thread->ledger->end_ns = clock_now_ns();
        sampler_count_undelivered(thread, thread->ledger->end_ns);
        INVARIANT(tree_is_valid(&thread->tree));
        thread_leave_tool(thread);
    }
    core_end(&thread->core); /* after thread_note_run_times(), which reads its file */
    INVARIANT(state_is_valid(thread->line, clock_ticks()));
    if (thread->line->began)
        store_release(&thread->line->ended, clock_ticks());
    thread_give_back(thread);
}

void attach_end(struct thread *thread)
{
    thread_end_untracked();
    if (!thread)
        return;
    struct float_state floats = float_begin();
    attach_end_now(thread);
    float_end(floats);
}
