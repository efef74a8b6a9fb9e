/* The rules of this house: as in sampler.c. System calls: base/run_counts.c's, and the thread's CPU time. */
#include "ompt_tool/session/core.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "ompt_tool/restart/restart.h"

/* The kernel counts time on a core at ticks and switches: only so can be seen how long ago a thread got its core. */
static bool counts_lag;

/* Whether it went to sleep since this was asked last. */
static bool has_slept(struct core *core)
{
    long before = core->sleeps;
    core->sleeps = run_sleeps();
    return core->sleeps != before;
}

static void ask_clock_from_now(struct core *core, struct profile_thread *ledger)
{
    ledger->core_source = PROFILE_CORE_CPU_CLOCK;
    core->counts.on_core_ns = clock_thread_cpu_ns();
}

void core_begin(struct core *core, struct profile_thread *ledger)
{
    *core = (struct core){.counted_ns = clock_now_ns(), .sleeps = run_sleeps()};
    if (run_file_keep(&core->file) && run_counts_read(&core->file, &core->counts))
        ledger->core_source = PROFILE_CORE_SCHEDSTAT;
    else if (core->sleeps >= 0)
        ask_clock_from_now(core, ledger);
    core->begun = core->counts;
}

void core_end(struct core *core)
{
    run_file_let_go(&core->file);
}

/* What the thread did until it got its core: waited for it, all of the time or since the signal had woken it, or slept. */
static enum core_state explain(struct core *core, uint64_t away_ns, const ucontext_t *context)
{
    core->away_ns = away_ns;
    bool is_away = away_ns >= STATE_LATE_NS, slept = is_away && has_slept(core);
    if (restart_is_asleep(context) || (slept && core->lost_ns <= away_ns)) {
        core->woken_ns = core->lost_ns < away_ns ? core->lost_ns : away_ns;
        return CORE_ASLEEP;
    }
    /* A tick while the signal was on its way looks like a core that was got then: only who really has lost one is asked so
     * closely. */
    return is_away || (away_ns && core->lost_ns >= STATE_LATE_NS) ? CORE_NONE : CORE_HAD;
}

static enum core_state ask_kernel(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
                                  const ucontext_t *context)
{
    struct run_counts before = core->counts;
    bool is_late = delivery->clocks.ns - delivery->due_ns >= STATE_LATE_NS;
    if (!run_counts_read(&core->file, &core->counts)) { /* the program has closed it */
        ask_clock_from_now(core, ledger);
        ledger->core_unasked += is_late;
        return CORE_HAD;
    }
    core->lost_ns = core->counts.no_core_ns - before.no_core_ns;
    if (core->counts.turns == before.turns) /* what the last handler had lost before it asked, it asked about, too */
        return delivery->due_ns < core->got_ns ? explain(core, core->got_ns - delivery->due_ns, context) : CORE_HAD;
    uint64_t now_ns = clock_now_ns(), late_ns = now_ns - delivery->due_ns;
    uint64_t on_core_ns = clock_thread_cpu_ns() - core->counts.on_core_ns; /* at least, since it has its core */
    core->got_ns = now_ns - on_core_ns;
    if (on_core_ns >= STATE_LATE_NS)
        store_relaxed(&counts_lag, true);
    if (on_core_ns >= late_ns || (!is_late && !load_relaxed(&counts_lag)))
        return explain(core, 0, context);
    return explain(core, late_ns - on_core_ns, context);
}

/* What it did not run since its last sample it was without a core, unless it went to sleep meanwhile. */
static enum core_state ask_clock(struct core *core, uint64_t passed_ns, uint64_t late_ns, const ucontext_t *context)
{
    uint64_t cpu_ns = clock_thread_cpu_ns(), used_ns = cpu_ns - core->counts.on_core_ns;
    uint64_t away_ns = passed_ns > used_ns ? passed_ns - used_ns : 0;
    bool is_late = late_ns >= STATE_LATE_NS && away_ns + STATE_LATE_NS >= late_ns, slept = has_slept(core);
    core->counts.on_core_ns = cpu_ns;
    core->lost_ns = core->away_ns = slept ? 0 : away_ns;
    if (restart_is_asleep(context) || (is_late && slept))
        return CORE_ASLEEP;
    return is_late ? CORE_NONE : CORE_HAD;
}

void core_ask(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
              const ucontext_t *context)
{
    uint64_t now_ns = delivery->clocks.ns;
    core->state = CORE_HAD;
    core->lost_ns = core->away_ns = core->woken_ns = 0;
    if (ledger->core_source == PROFILE_CORE_SCHEDSTAT)
        core->state = ask_kernel(core, ledger, delivery, context);
    else if (ledger->core_source == PROFILE_CORE_CPU_CLOCK)
        core->state = ask_clock(core, now_ns - core->counted_ns, now_ns - delivery->due_ns, context);
    core->counted_ns = now_ns;
}

bool core_runs_late(struct core *core, const struct state_line *line, double p, struct census census)
{
    uint64_t waited_ticks = load_relaxed(&line->idle_since);
    bool others_wait = census.in_use > census.busy, has_waited = waited_ticks != core->waited_ticks;
    core->waited_ticks = waited_ticks;
    /* What it lost before and behind its wait is not told apart, but for what it has just lost. */
    core->pays = core->pays && !has_waited;
    if (has_waited)
        core->debt_ns = core->state == CORE_NONE ? (double)core->away_ns : 0;
    else
        core->debt_ns += (double)core->lost_ns;
    if (census.in_use == 1)
        core->debt_ns = 0; /* nobody else is there to wait for it */
    bool late = others_wait && core->debt_ns > (core->pays ? 0 : p / 2); /* the first is rounded, the last is whole */
    if (!others_wait || core->state == CORE_ASLEEP || (!late && core->state == CORE_HAD))
        return false;
    core->pays = true;
    core->debt_ns -= p;
    return core->state == CORE_HAD;
}
