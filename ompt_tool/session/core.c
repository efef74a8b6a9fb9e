/* The rules of this house: as in sampler.c. System calls: base/run_counts.c's, the thread's CPU time, and those of restart.c that look at the
 * call that was interrupted. */
#include "ompt_tool/session/core.h"

#include <stddef.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/hash.h"
#include "cct/profile_format.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/session/session.h"

/* ---- what it did that has left its core since its last sample, or got this one late: by what the kernel counts, and by its call ---- */

/* So many samples more than there can be seem to have got their core just then, of late: it is not so. */
#define DOUBT_LIMIT  8.0
#define DOUBT_KEPT   0.97
#define DOUBT_MARGIN 2.0 /* so many, for each that may be */

/* So many moments more than the kernel counts had no core, of late, and more than so many times what chance makes of it. */
#define NONE_LIMIT 2.0
#define NONE_KEPT  0.999
#define BY_CHANCE  2.0

#define OFTEN 3 /* turns since the last sample: more than the sample's own wake-up */
#define SAMPLES                                                                                                        \
    8 /* of which that is the mean: single ones have more turns, and are asleep more often, where the last was long ago */
#define LONG_WORK_NS 100000 /* between two of them: some microseconds hardly matter */
#define MOST_ASLEEP  8.0    /* moments that chance is behind or ahead, at most: no later phase has them */
#define MOST_OWED    2.0    /* behind, of work, */
#define MOST_FOUND   64.0   /* and ahead: what was found is certain */

static double kept_between(double least, double owed, double most)
{
    return owed > most ? most : owed < least ? least : owed;
}

/* At which moments it had a core all the same. */
static void note_had(struct core *core, const struct delivery *delivery, uint64_t away_ns)
{
    uint64_t got_ns = delivery->due_ns + away_ns;
    core->first = CORE_HAD;
    if (away_ns > core->gone_ns)
        core->first_moments = core_moments_within(core, delivery, away_ns - core->gone_ns);
    if (delivery->census_ns >= got_ns)
        core->had_last = delivery->count - core_moments_within(core, delivery, away_ns);
    if (core->had_last > delivery->count - core->first_moments)
        core->had_last = delivery->count - core->first_moments;
}

/* When the sleep ends, or ended, that it is in or comes out of, if a signal ended that at the moment; 0: that is not known. After one turn it may
 * be the one that the last sample found it in: of that the end is known, or nothing. */
static uint64_t end_of_sleep(const struct core *core, const struct delivery *delivery, const ucontext_t *context)
{
    uint64_t begin_ns = core->turns == 1 ? delivery->due_ns - core->slept_ns : 0;
    bool is_the_last = core->was_in_call && begin_ns && (!core->ends_ns || core->ends_ns > begin_ns);
    return restart_sleep_end_ns(context, is_the_last ? 0 : begin_ns, is_the_last ? core->ends_ns : 0,
                                delivery->clocks.ns);
}

/* How long it would have slept on, if it slept, and while it waited for a core. Where nobody knows half of its time is likely, and the last of
 * its sleeps is cut there. */
static uint64_t rest_of_sleep(const struct core *core, const struct delivery *delivery)
{
    uint64_t half_ns = core->slept_ns / (2 * core->turns - 1),
             rest_ns = half_ns < core->limit_ns / 2 ? core->limit_ns / 2 : half_ns;
    uint64_t waited_ns = core->lost_ns < core->away_ns ? core->lost_ns : core->away_ns;
    if (core->ends_ns)
        rest_ns = core->ends_ns > delivery->due_ns ? core->ends_ns - delivery->due_ns : 0;
    return rest_ns < waited_ns ? rest_ns : waited_ns;
}

/* Else the counts are those of an earlier sample. */
static bool is_asked(const struct core *core, const struct delivery *delivery)
{
    return core->asked_ns >= delivery->clocks.ns;
}

/* As many of the present moments as have that time, on average. */
static double as_moments(const struct delivery *delivery, uint64_t ns)
{
    return (double)ns * (double)delivery->count / delivery->p;
}

/* For how long its code slept is owed as moments at which it is found asleep. What it slept of behind a wait nobody knows: there it is as much
 * of these moments as of the time without a core. */
static void owe_sleep(struct core *core, const struct delivery *delivery)
{
    if (core->stayed && core->slept)
        core->owed += as_moments(delivery, core->slept_ns);
    else if (core->is_owed && core->off_core_ns)
        core->owed += (double)core->slept_ns / (double)core->off_core_ns * (double)delivery->count;
}

/* If its signal ended that, it would have slept on. */
static void note_asleep(struct core *core, const struct delivery *delivery, uint64_t moments)
{
    if (core->stayed)
        core->owed += as_moments(delivery, core->woken_ns);
    if (core->is_owed)
        core->owed -= (double)moments;
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

/* What the program lost since the last sample. */
static double moments_lost(const struct core *core, const struct delivery *delivery)
{
    return as_moments(delivery, core->lost_ns - core->woken_ns);
}

static bool none_is_too_often(const struct core *core, const struct delivery *delivery)
{
    double beyond = 1 - core->owed_none - moments_lost(core, delivery);
    return beyond > NONE_LIMIT && beyond * beyond > BY_CHANCE * BY_CHANCE * core->none_spread;
}

/* It does, and has waited for cores more than once: whether it slept still at the moment chance decides, by how many such moments are not
 * found yet; but if nobody has taken its core it did. */
static bool slept_at(const struct core *core, const struct delivery *delivery)
{
    return core->turns > 1 && (is_drawn(delivery->due_ns, core->owed) || none_is_too_often(core, delivery));
}

/* At its first moments, for so long; then it was ready to run. */
static enum core_state sleep_until(struct core *core, const struct delivery *delivery, uint64_t ns)
{
    uint64_t moments = core_moments_within(core, delivery, ns);
    note_asleep(core, delivery, moments);
    if (moments >= delivery->count)
        return CORE_ASLEEP;
    core->first = CORE_ASLEEP;
    core->first_moments = moments;
    return CORE_NONE;
}

/* It slept, its signal woke it, and when it got a core the sleep was, or may have been, over: at later moments it was ready to run. */
static enum core_state slept_at_first(struct core *core, const struct delivery *delivery)
{
    core->woken_ns = rest_of_sleep(core, delivery);
    return sleep_until(core, delivery, core->woken_ns + 1);
}

/* It slept at the first of its moments: until it got its core; or until its signal, or what it slept for, woke it, and then it waited for
 * one. */
static enum core_state explain_sleep(struct core *core, const struct delivery *delivery, bool out_of_call)
{
    core->woken_ns = core->lost_ns < core->away_ns ? core->lost_ns : core->away_ns;
    if (out_of_call && core->lost_ns + STATE_LATE_NS > core->away_ns)
        return slept_at_first(core, delivery);
    if (core->in_call || !core->in_code || core->away_ns - core->lost_ns >= STOPPED_NS) {
        note_asleep(core, delivery, delivery->count);
        return CORE_ASLEEP;
    }
    core->woken_ns = 0; /* no signal ended that sleep */
    return sleep_until(core, delivery, core->away_ns - core->lost_ns);
}

/* A tick, or a reading of the program's own of its CPU time, while the signal was on its way looks like a core that was got then: only who
 * really has lost one for so long is asked so closely, and not who would have got one so far more often than its turns make possible, and than after
 * twice that wait; nor who would have had none for much longer than the kernel counts: it loses its core often, and gets it back at once. */
static bool got_core_just_now(struct core *core, const struct delivery *delivery, uint64_t away_ns)
{
    bool seems = away_ns && away_ns < STATE_LATE_NS && core->lost_ns >= away_ns && (core->preempted || !core->in_code);
    double passed_ns = (double)(delivery->clocks.ns - core->counted_ns) + 1,
           possible = (double)core->turns * STATE_LATE_NS / passed_ns;
    if (away_ns < STATE_LATE_NS)
        core->doubt = DOUBT_KEPT * core->doubt + seems - DOUBT_MARGIN * possible;
    else if (away_ns < 2 * STATE_LATE_NS)
        core->doubt -= DOUBT_MARGIN;
    if (core->doubt < 0)
        core->doubt = 0;
    return seems && core->doubt < DOUBT_LIMIT && !none_is_too_often(core, delivery);
}

/* What the program lost since the last sample is owed as moments without a core, and what this one found is taken off. */
static void note_none(struct core *core, const struct delivery *delivery)
{
    double found = core->state == CORE_NONE ? (double)core_moments_in_state(core, delivery) : 0,
           lost = moments_lost(core, delivery);
    double passed = as_moments(delivery, delivery->clocks.ns - core->counted_ns),
           spread = lost < passed ? lost * (1 - lost / passed) : 0;
    core->owed_none = NONE_KEPT * core->owed_none + lost - found;
    core->none_spread = NONE_KEPT * NONE_KEPT * core->none_spread + (spread < 0.25 ? spread : 0.25);
}

/* Of code that leaves its core often the kernel counts for how long it had one: so much of its time, from the last sample's end to this one's
 * moment, is work, and it is owed what samples have not found of that. They find it asleep too often: who is in the kernel, on its way to
 * sleep, is asleep when the signal has come, and so is who went to sleep while that was on its way. Whether it is such code the samples
 * before say, as this one would by what it found. Not of code that has waited for others of its team meanwhile. */
static bool expect_work(struct core *core, const struct delivery *delivery)
{
    if (!is_asked(core, delivery))
        return false;
    bool leaves_often = core->mean_turns >= OFTEN && core->mean_on_ns < core->mean_turns * LONG_WORK_NS;
    bool is_counted = leaves_often && core->stayed && delivery->count == 1;
    core->mean_turns += ((double)core->turns - core->mean_turns) / SAMPLES;
    core->mean_on_ns += ((double)core->on_core_ns - core->mean_on_ns) / SAMPLES;
    if (!is_counted)
        return false;
    double samples_ns = (double)(core->handler_ns + core->since_due_ns), own_ns = (double)core->on_core_ns - samples_ns;
    if (own_ns > 0 && samples_ns < delivery->p / 2)
        core->owed_work += own_ns / (delivery->p - samples_ns);
    core->owed_work = kept_between(-MOST_FOUND, core->owed_work, MOST_OWED);
    return true;
}

static enum core_state note_work(struct core *core)
{
    core->owed_work -= 1;
    return CORE_HAD;
}

static enum core_state explain(struct core *core, const struct delivery *delivery, uint64_t away_ns,
                               const ucontext_t *context)
{
    core->away_ns = away_ns;
    /* A poll that does not wait comes back interrupted, too. */
    core->in_call = (core->slept || core->switches.sleeps < 0) && restart_is_asleep(context);
    core->stayed = core->stayed && core->turns && is_asked(core, delivery);
    bool is_away = away_ns >= STATE_LATE_NS, out_of_call = comes_out_of_call(core, delivery, context);
    bool only_slept = out_of_call
                          ? core->lost_ns <= away_ns + STATE_GRACE_NS
                          : is_away && core->slept && core->lost_ns + (core->in_code ? STATE_LATE_NS : 0) <= away_ns;
    bool may_sleep = core->turns && core->in_code && (core->in_call || out_of_call);
    core->is_owed = core->stayed || may_sleep;
    core->ends_ns = may_sleep ? end_of_sleep(core, delivery, context) : 0;
    bool is_counted = expect_work(core, delivery);
    owe_sleep(core, delivery);
    if (is_counted && may_sleep && core->owed_work >= 1)
        return note_work(core);
    if ((core->in_call && !out_of_call) || only_slept || (out_of_call && slept_at(core, delivery)))
        return explain_sleep(core, delivery, out_of_call);
    if (!got_core_just_now(core, delivery, away_ns) && !is_away && !out_of_call)
        return is_counted ? note_work(core) : CORE_HAD;
    if (!out_of_call) /* which has executed nothing since */
        note_had(core, delivery, away_ns);
    return CORE_NONE;
}

/* From its first moment on, for so long at most, until it got its core: had it, waited for it all of the time or since the signal had woken
 * it, or slept. Of one sample the counts are filled in; which moments are otherwise is filled in here. */
static __attribute__((noinline)) enum core_state explain_away(struct core *core, const struct delivery *delivery,
                                                              uint64_t away_ns, const ucontext_t *context)
{
    core->state = explain(core, delivery, away_ns, context);
    core->owed = kept_between(-MOST_ASLEEP, core->owed, MOST_ASLEEP);
    note_none(core, delivery);
    return core->state;
}

/* ---- asking the kernel ---- */

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

void core_begin(struct core *core, const struct state_line *line, const struct moments *moments,
                struct profile_thread *ledger)
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
static uint64_t stolen_ns(const struct core *core, uint64_t on_core_before_ns, uint64_t now_ns, uint64_t cpu_ns)
{
    int64_t passed_ns = (int64_t)(now_ns - core->asked_ns);
    int64_t rest_ns = passed_ns - (int64_t)(cpu_ns - core->asked_cpu_ns) -
                      (int64_t)(core->counts.no_core_ns - core->asked_no_core_ns);
    if (core->asked_ns < core->counted_ns && rest_ns < passed_ns / CLOCKS_APART)
        rest_ns = (int64_t)(now_ns - core->counted_ns) - (int64_t)(cpu_ns - on_core_before_ns) - (int64_t)core->lost_ns;
    return rest_ns >= (int64_t)STATE_LATE_NS && !core->slept && core->switches.sleeps >= 0 ? (uint64_t)rest_ns : 0;
}

static bool is_late(const struct delivery *delivery)
{
    return delivery->clocks.ns - delivery->due_ns >= STATE_LATE_NS;
}

/* It has had a turn since the sample before, or comes late without one. Apart, so that it costs others nothing. */
static __attribute__((noinline)) enum core_state ask_closely(struct core *core, uint64_t turns,
                                                             uint64_t on_core_before_ns,
                                                             const struct delivery *delivery, const ucontext_t *context)
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
        return explain_away(core, delivery, 0, context);
    return explain_away(core, delivery, late_ns - on_core_ns, context);
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
    core->stayed = was_in_code && acquisitions == core->acquisitions &&
                   load_relaxed(&core->line->idle_since) == core->waited_ticks;
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
        return explain_away(core, delivery, core->got_ns - delivery->due_ns, context);
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

/* ---- before and behind its waits ---- */

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

/* ---- did the whole process stand still? ---- */

#define PARTS 10u /* one in so many of its time may others have been heard, and while it lacked a core */

uint64_t stopped_heard;
static uint32_t certain; /* the silence until the end of the gap in which a thread was stopped beyond doubt */

/* Where samples are rarer that is how they come. */
static bool is_gap(uint32_t ticks)
{
    uint64_t ns = (uint64_t)ticks << STOPPED_TICK;
    return ns + (1u << STOPPED_TICK) > STOPPED_NS && ns > 2 * session.period_ns;
}

void stopped_note_heard(uint64_t now_ns)
{
    uint64_t before = load_relaxed(&stopped_heard);
    uint32_t now = (uint32_t)(now_ns >> STOPPED_TICK), heard = (uint32_t)(before >> 32), silence = (uint32_t)before;
    if (before && (int32_t)(now - heard) <= 0)
        return;
    if (before && is_gap(now - heard))
        silence += now - heard;
    compare_exchange(&stopped_heard, &before, (uint64_t)now << 32 | silence); /* or another thread was heard just now */
}

/* A wait of OpenMP's is in calls that a signal interrupts, or in loops: whose sample comes late was stopped, and with it all. */
static bool is_any_idle(void)
{
    const struct state_line *line;
    for (uint32_t number = 0; (line = state_line_at(number)); number++)
        if (load_relaxed(&line->state) == STATE_IDLE)
            return true;
    return false;
}

static bool is_certain(const struct core *core, const ucontext_t *context)
{
    if (core->in_call || is_any_idle())
        return true;
    return !core->faulted && restart_call_before(context) != RESTART_CALL_OTHER;
}

bool stopped_until_now(struct core *core, const struct delivery *delivery, const ucontext_t *context)
{
    uint32_t before = core->silence, silence = (uint32_t)load_relaxed(&stopped_heard), since = silence - before;
    uint64_t late_ns = delivery->clocks.ns - delivery->due_ns;
    core->silence = silence;
    if (likely(late_ns < STOPPED_NS) || core->state != CORE_ASLEEP || core->lost_ns + STOPPED_NS > late_ns)
        return false;
    if (((uint64_t)since << STOPPED_TICK) + core->lost_ns < late_ns - late_ns / PARTS)
        return false;
    if (is_certain(core, context))
        store_relaxed(&certain, silence);
    if (load_relaxed(&certain) - before - 1 >= since) /* in none of its gaps */
        return false;
    if (!core->in_call) { /* it had not slept for a signal to wake it: what it lost it lost then */
        core->state = CORE_NONE;
        core->woken_ns = 0;
    }
    return true;
}
