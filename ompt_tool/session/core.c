/* The rules of this house: as in sampler.c. System calls: base/run_counts.c's, and the thread's CPU time. */
#include "ompt_tool/session/core.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/session/core_explain.h"

#define CLOCKS_APART 64 /* the wall clock's time and the kernel's counts, by a part of it, at most */

/* The kernel counts time on a core at ticks and switches, and not when it is read: only so can be seen how long ago a thread got
 * its core. */
static bool counts_lag;

static void note_lag(struct core *core)
{
    struct run_counts again;
    if (run_counts_read(&core->file, &again) && again.on_core_ns == core->counts.on_core_ns)
        store_relaxed(&counts_lag, true);
}

static void note_asked(struct core *core, uint64_t now_ns, uint64_t cpu_ns)
{
    core->asked_ns = now_ns;
    core->asked_cpu_ns = cpu_ns;
    core->asked_no_core_ns = core->counts.no_core_ns;
}

/* Since this was asked last. */
static void ask_switches(struct core *core)
{
    struct run_switches before = core->switches;
    core->switches = run_switches();
    core->slept = core->switches.sleeps != before.sleeps;
    core->faulted = core->switches.faults != before.faults;
    core->preempted = core->switches.preemptions != before.preemptions;
}

static void ask_clock_from_now(struct core *core, struct profile_thread *ledger)
{
    ledger->core_source = PROFILE_CORE_CPU_CLOCK;
    core->counts.on_core_ns = clock_thread_cpu_ns();
    core->stolen_part = 0; /* nobody tells it apart */
}

void core_begin(struct core *core, const struct state_line *line, const struct moments *moments, struct profile_thread *ledger)
{
    *core = (struct core){.line = line, .moments = moments, .counted_ns = clock_now_ns()};
    core->switches = run_switches();
    if (run_file_keep(&core->file) && run_counts_read(&core->file, &core->counts)) {
        ledger->core_source = PROFILE_CORE_SCHEDSTAT;
        note_lag(core);
        note_asked(core, clock_now_ns(), clock_thread_cpu_ns());
    } else if (core->switches.sleeps >= 0) {
        ask_clock_from_now(core, ledger);
    }
    core->begun = core->counts;
}

void core_end(struct core *core)
{
    run_file_let_go(&core->file);
}

/* What a hypervisor took: the wall clock has gone on, and no count of the kernel's. Exactly so much since the CPU time was asked last, if it
 * is more than clocks are apart and interrupts take; else, at least, so much since the last sample: what the thread ran from the tick
 * before that on is not known apart. Of a thread that has slept nobody knows. */
static uint64_t stolen_ns(const struct core *core, uint64_t on_core_before_ns, uint64_t now_ns,
                          uint64_t cpu_ns)
{
    int64_t passed_ns = (int64_t)(now_ns - core->asked_ns);
    int64_t rest_ns = passed_ns - (int64_t)(cpu_ns - core->asked_cpu_ns) -
                      (int64_t)(core->counts.no_core_ns - core->asked_no_core_ns);
    if (core->asked_ns < core->counted_ns && rest_ns < passed_ns / CLOCKS_APART)
        rest_ns = (int64_t)(now_ns - core->counted_ns) - (int64_t)(cpu_ns - on_core_before_ns) -
                  (int64_t)core->lost_ns;
    return rest_ns >= (int64_t)STATE_LATE_NS && !core->slept && core->switches.sleeps >= 0 ? (uint64_t)rest_ns : 0;
}

static bool is_late(const struct delivery *delivery)
{
    return delivery->clocks.ns - delivery->due_ns >= STATE_LATE_NS;
}

/* It has had a turn since the sample before, or comes late without one. Apart, so that it costs others nothing. */
static __attribute__((noinline)) enum core_state ask_closely(struct core *core, uint64_t turns,
                                                             uint64_t on_core_before_ns,
                                                             const struct delivery *delivery,
                                                             const ucontext_t *context)
{
    core->turns = turns;
    if (turns)
        ask_switches(core);
    else
        core->slept = false;
    uint64_t now_ns = clock_now_ns(), cpu_ns = clock_thread_cpu_ns(), late_ns = now_ns - delivery->due_ns;
    uint64_t stolen = is_late(delivery) ? stolen_ns(core, on_core_before_ns, now_ns, cpu_ns) : 0;
    uint64_t on_core_ns = stolen ? 0 : cpu_ns - core->counts.on_core_ns; /* at least, since it has its core */
    uint64_t no_core_ns = core->counts.no_core_ns - core->asked_no_core_ns;
    core->on_core_ns = cpu_ns - core->asked_cpu_ns;
    core->off_core_ns = now_ns - core->asked_ns - core->on_core_ns;
    core->slept_ns = core->off_core_ns > no_core_ns ? core->off_core_ns - no_core_ns : 0;
    note_asked(core, now_ns, cpu_ns);
    if (!turns && !stolen)
        return CORE_HAD;
    core->got_ns = now_ns - on_core_ns;
    core->since_due_ns = on_core_ns < late_ns ? on_core_ns : late_ns;
    core->gone_ns = core->lost_ns += stolen;
    core->stolen_part = stolen ? (double)stolen / (double)core->gone_ns : 0;
    if (on_core_ns >= late_ns || (!is_late(delivery) && !load_relaxed(&counts_lag)))
        return core_explain(core, delivery, 0, context);
    return core_explain(core, delivery, late_ns - on_core_ns, context);
}

/* At each sample: what the last one was of is not known any more when the counts are. */
static void note_where(struct core *core)
{
    bool was_in_code = core->in_code;
    core->was_in_call = core->in_call;
    core->in_call = core->stayed = false;
    core->in_code = load_relaxed(&core->line->state) == STATE_WORK && !load_relaxed(&core->line->wait_key);
    if (!core->in_code)
        return;
    uint32_t acquisitions = load_relaxed(&core->line->acquisitions);
    core->stayed = was_in_code && acquisitions == core->acquisitions && load_relaxed(&core->line->idle_since) == core->waited_ticks;
    core->acquisitions = acquisitions;
}

static enum core_state ask_kernel(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
                                  const ucontext_t *context)
{
    struct run_counts before = core->counts;
    note_where(core);
    if (!run_counts_read(&core->file, &core->counts)) { /* the program has closed it */
        ask_clock_from_now(core, ledger);
        ledger->core_unasked += is_late(delivery) ? delivery->count : 0;
        return CORE_HAD;
    }
    core->lost_ns = core->counts.no_core_ns - before.no_core_ns;
    if (core->counts.turns != before.turns)
        return ask_closely(core, core->counts.turns - before.turns, before.on_core_ns, delivery, context);
    /* What the last handler had lost before it asked, it asked about, too. */
    if (delivery->due_ns < core->got_ns)
        return core_explain(core, delivery, core->got_ns - delivery->due_ns, context);
    return is_late(delivery) ? ask_closely(core, 0, before.on_core_ns, delivery, context) : CORE_HAD;
}

/* What it did not run since its last sample it was without a core, unless it went to sleep meanwhile: then nobody knows what of it. */
static enum core_state ask_clock(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
                                 const ucontext_t *context)
{
    uint64_t passed_ns = delivery->clocks.ns - core->counted_ns, late_ns = delivery->clocks.ns - delivery->due_ns;
    uint64_t cpu_ns = clock_thread_cpu_ns(), used_ns = cpu_ns - core->counts.on_core_ns;
    uint64_t away_ns = passed_ns > used_ns ? passed_ns - used_ns : 0;
    bool came_late = is_late(delivery) && away_ns + STATE_LATE_NS >= late_ns;
    ask_switches(core);
    core->counts.on_core_ns = cpu_ns;
    core->lost_ns = core->gone_ns = core->slept ? 0 : away_ns;
    core->away_ns = core->lost_ns < late_ns ? core->lost_ns : late_ns;
    core->got_ns = delivery->due_ns + core->away_ns;
    core->in_call = restart_is_asleep(context);
    ledger->core_unasked += core->slept && came_late ? delivery->count : 0;
    if (core->in_call || (came_late && core->slept))
        return CORE_ASLEEP;
    return came_late ? CORE_NONE : CORE_HAD;
}

void core_ask(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
              const ucontext_t *context)
{
    core->state = CORE_HAD;
    core->lost_ns = core->away_ns = core->woken_ns = core->first_moments = core->had_last = 0;
    if (ledger->core_source == PROFILE_CORE_SCHEDSTAT)
        core->state = ask_kernel(core, ledger, delivery, context);
    else if (ledger->core_source == PROFILE_CORE_CPU_CLOCK)
        core->state = ask_clock(core, ledger, delivery, context);
    core->counted_ns = delivery->clocks.ns;
}

void core_leave(struct core *core, uint64_t now_ns)
{
    if (likely(core->asked_ns < now_ns)) /* at an earlier sample */
        return;
    core->handler_ns = core->turns && core->in_code ? clock_thread_cpu_ns() - core->asked_cpu_ns : 0;
}
