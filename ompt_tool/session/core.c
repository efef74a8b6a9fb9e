/* The rules of this house: as in sampler.c. System calls: base/run_counts.c's, and the thread's CPU time. */
#include "ompt_tool/session/core.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "base/hash.h"
#include "ompt_tool/restart/restart.h"

#define CLOCKS_APART 64 /* the wall clock's time and the kernel's counts, by a part of it, at most */

/* So many samples more than there can be seem to have got their core just then, of late: it is not so. */
#define DOUBT_LIMIT  4.0
#define DOUBT_KEPT   0.97
#define DOUBT_MARGIN 2.0 /* so many, for each that may be */

#define LATENCIES  16   /* of signals, that count for the mean */
#define OFTEN      8    /* turns since the last sample */
#define LEAST_WORK 0.05 /* what is less likely is not believed of single samples */
#define MOST_OWED 2.0 /* moments: what chance is behind, or ahead, at most */

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

void core_begin(struct core *core, const struct state_line *line, struct profile_thread *ledger)
{
    *core = (struct core){.line = line, .counted_ns = clock_now_ns()};
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

/* At which moments it had a core all the same. */
static void note_had(struct core *core, const struct delivery *delivery, uint64_t away_ns)
{
    uint64_t got_ns = delivery->due_ns + away_ns;
    core->first = CORE_HAD;
    if (away_ns > core->gone_ns)
        core->first_moments = delivery_moments_within(delivery, away_ns - core->gone_ns);
    if (delivery->census_ns >= got_ns)
        core->had_last = delivery_moments_within(delivery, delivery->census_ns - got_ns + 1);
    if (core->had_last > delivery->count - core->first_moments)
        core->had_last = delivery->count - core->first_moments;
}

/* How long it would have slept on, if it slept, and while it waited for a core: half of its time is likely, and the last of its sleeps is cut
 * there. */
static uint64_t rest_of_sleep(const struct core *core)
{
    uint64_t half_ns = core->slept_ns / (2 * core->turns - 1), rest_ns = half_ns < core->limit_ns / 2 ? core->limit_ns / 2 : half_ns;
    uint64_t waited_ns = core->lost_ns < core->away_ns ? core->lost_ns : core->away_ns;
    return rest_ns < waited_ns ? rest_ns : waited_ns;
}

/* User code without a core: how many of its moments should be asleep, by how much of that time it slept since its last sample. */
static void expect_asleep(struct core *core, const struct delivery *delivery)
{
    if (!core->off_core_ns)
        return;
    double part = (double)core->slept_ns / (double)core->off_core_ns;
    part += part * (double)rest_of_sleep(core) / (double)core->off_core_ns; /* if it slept, its signal ended that */
    core->owed += part * (double)delivery->count;
    if (core->owed > MOST_OWED)
        core->owed = MOST_OWED;
}

static void note_asleep(struct core *core, uint64_t moments)
{
    core->owed -= (double)moments;
    if (core->owed < -MOST_OWED)
        core->owed = -MOST_OWED;
}

/* Its code has slept since its last sample, and comes out of a call that may sleep, or waited for a page and may do so now. One turn
 * tells, whatever the call says: who has waited for longer than since the moment did not sleep then. */
static bool comes_out_of_call(struct core *core, const struct delivery *delivery, const ucontext_t *context)
{
    core->limit_ns = 0;
    if (!core->turns || !core->slept || !core->in_code || core->got_ns < delivery->due_ns)
        return false;
    if (!core->in_call)
        return core->faulted || restart_call_before(context) >= RESTART_CALL_WAIT;
    core->limit_ns = restart_sleep_limit_ns(context);
    return core->limit_ns < UINT64_MAX || (core->turns == 1 && core->lost_ns > core->away_ns + STATE_GRACE_NS);
}

/* By chance, and the same for each sample with that number. */
static bool is_drawn(uint64_t number, double part)
{
    return (double)(hash_number(number) >> 11) * 0x1p-53 < part;
}

/* It does, and has waited for cores more than once: whether it slept still at the moment chance decides, by how many such moments are not
 * found yet. */
static bool slept_at(const struct core *core, const struct delivery *delivery)
{
    return core->turns > 1 && is_drawn(delivery->due_ns, core->owed);
}

/* At its first moments, for so long; then it was ready to run. */
static enum core_state sleep_until(struct core *core, const struct delivery *delivery, uint64_t ns, bool is_owed)
{
    uint64_t moments = delivery_moments_within(delivery, ns);
    note_asleep(core, is_owed ? moments : 0);
    if (moments >= delivery->count)
        return CORE_ASLEEP;
    core->first = CORE_ASLEEP;
    core->first_moments = moments;
    return CORE_NONE;
}

/* It slept, its signal woke it, and when it got a core the sleep was, or may have been, over: after half of its time, as is likely, and at
 * later moments it was ready to run. */
static enum core_state slept_at_first(struct core *core, const struct delivery *delivery)
{
    core->woken_ns = rest_of_sleep(core);
    return sleep_until(core, delivery, core->woken_ns + 1, true);
}

/* A tick, or a reading of the program's own of its CPU time, while the signal was on its way looks like a core that was got then: only who
 * really has lost one is asked so closely, and not who would have got one so far more often than its turns make possible, and than after
 * twice that wait. */
static bool got_core_just_now(struct core *core, const struct delivery *delivery, uint64_t away_ns)
{
    bool seems = away_ns && away_ns < STATE_LATE_NS && core->lost_ns >= STATE_LATE_NS && (core->preempted || !core->in_code);
    double passed_ns = (double)(delivery->clocks.ns - core->counted_ns) + 1, possible = (double)core->turns * STATE_LATE_NS / passed_ns;
    if (away_ns < STATE_LATE_NS)
        core->doubt = DOUBT_KEPT * core->doubt + seems - DOUBT_MARGIN * possible;
    else if (away_ns < 2 * STATE_LATE_NS)
        core->doubt -= DOUBT_MARGIN;
    if (core->doubt < 0)
        core->doubt = 0;
    return seems && core->doubt < DOUBT_LIMIT;
}

/* It worked at the moment, and went to sleep while the signal was on its way: it leaves its core so often (but for the last
 * sample's sake) that this is likely by how much of its time. */
static bool worked_at(struct core *core, const struct delivery *delivery)
{
    double left_ns = core->latency_ns * (double)(core->turns - 1), on_ns = (double)core->on_core_ns;
    double worked_ns = left_ns * on_ns / (on_ns + left_ns + 1);
    double part = worked_ns / (worked_ns + (double)core->off_core_ns + 1);
    if (core->turns < OFTEN || part < LEAST_WORK)
        return false;
    core->owed_work += part;
    bool worked = is_drawn(~delivery->due_ns, core->owed_work);
    core->owed_work -= worked;
    return worked;
}

/* What the thread did until it got its core: waited for it, all of the time or since the signal had woken it, or slept. Apart, as the next one. */
static __attribute__((noinline)) enum core_state explain(struct core *core, const struct delivery *delivery, uint64_t away_ns,
                                                         const ucontext_t *context)
{
    core->away_ns = away_ns;
    /* A poll that does not wait comes back interrupted, too. */
    core->in_call = (core->slept || core->switches.sleeps < 0) && restart_is_asleep(context);
    core->in_code = load_relaxed(&core->line->state) == STATE_WORK && !load_relaxed(&core->line->wait_key);
    bool is_away = away_ns >= STATE_LATE_NS, out_of_call = comes_out_of_call(core, delivery, context);
    bool only_slept = out_of_call ? core->lost_ns <= away_ns + STATE_GRACE_NS
                                  : is_away && core->slept && core->lost_ns + (core->in_code ? STATE_LATE_NS : 0) <= away_ns;
    bool is_owed = core->turns && core->in_code && (core->in_call || out_of_call);
    if (is_owed && delivery->count == 1 && worked_at(core, delivery))
        return CORE_HAD;
    if (is_owed)
        expect_asleep(core, delivery);
    if ((core->in_call && !out_of_call) || only_slept || (out_of_call && slept_at(core, delivery))) {
        core->woken_ns = core->lost_ns < away_ns ? core->lost_ns : away_ns;
        if (out_of_call && core->lost_ns + STATE_LATE_NS > away_ns)
            return slept_at_first(core, delivery);
        if (core->in_call || !core->in_code || away_ns - core->lost_ns >= STOPPED_NS) {
            note_asleep(core, is_owed ? delivery->count : 0);
            return CORE_ASLEEP;
        }
        core->woken_ns = 0; /* no signal ended that sleep */
        return sleep_until(core, delivery, away_ns - core->lost_ns, is_owed);
    }
    if (!got_core_just_now(core, delivery, away_ns) && !is_away && !out_of_call)
        return CORE_HAD;
    if (!out_of_call) /* which has executed nothing since */
        note_had(core, delivery, away_ns);
    return CORE_NONE;
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
    if (late_ns < STATE_LATE_NS && on_core_ns >= late_ns)
        core->latency_ns += ((double)late_ns - core->latency_ns) / LATENCIES;
    core->slept_ns = core->off_core_ns > no_core_ns ? core->off_core_ns - no_core_ns : 0;
    note_asked(core, now_ns, cpu_ns);
    if (!turns && !stolen)
        return CORE_HAD;
    core->got_ns = now_ns - on_core_ns;
    core->gone_ns = core->lost_ns += stolen;
    core->stolen_part = stolen ? (double)stolen / (double)core->gone_ns : 0;
    if (on_core_ns >= late_ns || (!is_late(delivery) && !load_relaxed(&counts_lag)))
        return explain(core, delivery, 0, context);
    return explain(core, delivery, late_ns - on_core_ns, context);
}

static enum core_state ask_kernel(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
                                  const ucontext_t *context)
{
    struct run_counts before = core->counts;
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
        return explain(core, delivery, core->got_ns - delivery->due_ns, context);
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

/* Which part of the time since the last sample was before the wait began. */
static double part_before(const struct core *core, const struct delivery *delivery, uint64_t since_ticks)
{
    double since_ns = (double)clock_ticks_ns(&delivery->clocks, since_ticks) - (double)core->last_ns;
    double passed_ns = (double)delivery->due_ns - (double)core->last_ns;
    return since_ns >= passed_ns ? 1 : since_ns <= 0 ? 0 : since_ns / passed_ns;
}

static uint32_t whole_us(double ns)
{
    return ns < 4e12 ? (uint32_t)(ns / 1000) : UINT32_MAX;
}

/* What it lost last, and behind the wait, if it is in one that is over. */
static double lost_at_end(const struct core *core)
{
    if (likely(core->state == CORE_HAD))
        return 0;
    uint64_t away_ns = (core->away_ns < core->lost_ns ? core->away_ns : core->lost_ns) - core->woken_ns;
    bool released = core->state == CORE_ASLEEP && !core->in_call; /* at any time since its signal came */
    return core->state == CORE_NONE ? (double)away_ns : released ? (double)core->woken_ns / 2 : 0;
}

void core_follow(struct core *core, struct state_line *line, const struct delivery *delivery)
{
    bool idle = load_relaxed(&line->state) == STATE_IDLE, sleeps = idle && core->state == CORE_ASLEEP;
    uint64_t since_ticks = load_relaxed(&line->idle_since);
    bool waited = since_ticks != core->waited_ticks;
    double at_end_ns = lost_at_end(core), before = core->splits ? 0.5 : 0;
    double spread_ns = (double)core->lost_ns - (double)core->woken_ns - (core->state == CORE_NONE ? at_end_ns : 0);
    if (waited) {
        before = sleeps ? 1 : part_before(core, delivery, since_ticks); /* who sleeps loses nothing */
        core->waited_ticks = since_ticks;
    }
    if (waited && idle) {
        store_relaxed(&line->lost_us, whole_us(core->lost_wait_ns + before * spread_ns));
        store_release(&line->lost_before, since_ticks); /* S6 */
    }
    if (waited || idle)
        core->lost_wait_ns = 0;
    core->lost_wait_ns += at_end_ns + (idle && core->state != CORE_NONE ? 0 : (1 - before) * spread_ns);
    core->splits = idle && !sleeps;
    core->last_ns = delivery->clocks.ns;
    store_relaxed(&line->lost_next_us, whole_us(core->lost_wait_ns));
}

void core_resume(struct core *core, struct state_line *line)
{
    bool told = line->lost_before == core->waited_ticks;
    core->waited_ticks = line->idle_since;
    if (told)
        store_release(&line->lost_before, line->idle_since);
}

int64_t core_lost_ns(const struct core *core, uint64_t time_ns)
{
    int64_t lost_ns = (int64_t)core->lost_wait_ns, later_ns = (int64_t)(core->got_ns - time_ns);
    if (core->state != CORE_NONE)
        return lost_ns;
    if (later_ns > (int64_t)core->gone_ns)
        return lost_ns - (int64_t)core->gone_ns;
    return lost_ns > later_ns ? lost_ns - later_ns : 1;
}

void core_note_others(struct core *core, struct state_line *line, struct census census)
{
    if (likely(census.in_use > 1))
        return;
    core->lost_wait_ns = 0;
    core->splits = true;
    store_relaxed(&line->lost_next_us, 0);
}
