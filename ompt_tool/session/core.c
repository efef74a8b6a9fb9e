/* This file runs in the signal handler: the rules at the head of sampler.c apply. Its system calls read the
 * kernel's counts (base/run_counts.c) and the thread's CPU time, and look at the interrupted call
 * (restart.c). */
#include "ompt_tool/session/core.h"

#include <linux/futex.h>
#include <stddef.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/registers.h"
#include "cct/profile_format.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/session/session.h"

/* ---- what a thread did if it has left its core since its last sample, or if its sample is late; decided
 * from the kernel's counts and the interrupted system call ---- */

/* core->owed.doubt counts samples that find the thread just back on its core, beyond what its turns make possible.
 * Above DOUBT_LIMIT, none of these samples is believed. DOUBT_KEPT is the factor by which the doubt decreases
 * at each sample. */
#define DOUBT_LIMIT 8.0
#define DOUBT_KEPT  0.97
/* samples of this kind that are accepted for each one that the turns make possible */
#define DOUBT_MARGIN 2.0

/* Samples find a thread without a core too often if they exceed the kernel's count by NONE_LIMIT moments and
 * by BY_CHANCE standard deviations. NONE_KEPT is the factor by which the balance decreases at each sample. */
#define NONE_LIMIT 2.0
#define NONE_KEPT  0.999
#define BY_CHANCE  2.0

/* turns per sample above which code counts as leaving its core often; one turn is due to the sample's own
 * signal */
#define OFTEN 3
/* number of samples in the running means; more than one, because a single long gap contains more turns and
 * sleep */
#define SAMPLES 8
/* ns of work per turn above which core_expect_work() leaves the code alone */
#define LONG_WORK_NS 100000
/* limit of the balance `owed` in moments, in both directions: a later phase of the program must not inherit
 * more */
#define MOST_ASLEEP 8.0
#define MOST_OWED   2.0 /* limit of owed.work, in moments: work that samples have not found yet */
/* limit of -owed.work, in moments: work that samples have found beyond the kernel's count */
#define MOST_FOUND 64.0

static double core_clamp(double least, double owed, double most)
{
    return owed > most ? most : owed < least ? least : owed;
}

/* Sets how many of the first and of the last moments found the thread on a core, in a sample that came late
 * because the thread lacked one in between. */
static void core_note_had(struct core *core, const struct delivery *delivery, uint64_t away_ns)
{
    uint64_t got_ns = delivery->due_ns + away_ns;
    core->now.first = CORE_HAD;
    if (away_ns > core->counts.gone_ns)
        core->now.first_moments = core_moments_within(core, delivery, away_ns - core->counts.gone_ns);
    if (delivery->census_ns >= got_ns)
        core->now.had_last = delivery->count - core_moments_within(core, delivery, away_ns);
    if (core->now.had_last > delivery->count - core->now.first_moments)
        core->now.had_last = delivery->count - core->now.first_moments;
}

/* Returns the end, in ns, of the sleep that the thread is in or that the signal has just interrupted; 0 if it
 * is unknown. After a single turn this may be the sleep that the previous sample interrupted. The end found
 * then is used, if any. */
static uint64_t core_sleep_end_ns(const struct core *core, const struct delivery *delivery, const ucontext_t *context)
{
    uint64_t begin_ns = core->now.turns == 1 ? delivery->due_ns - core->counts.slept_ns : 0;
    bool is_the_last = core->before.in_call && begin_ns && (!core->now.ends_ns || core->now.ends_ns > begin_ns);
    return restart_sleep_end_ns(context, is_the_last ? 0 : begin_ns, is_the_last ? core->now.ends_ns : 0,
                                delivery->clocks.ns);
}

/* Returns how many ns of a sleep were still to come when the signal woke the thread, at most the time that it
 * then waited for a core. If the end of the sleep is unknown, half of a sleep's mean length is the best
 * guess. Only the last of several sleeps can have been cut short. */
static uint64_t core_sleep_rest_ns(const struct core *core, const struct delivery *delivery)
{
    uint64_t half_ns = core->counts.slept_ns / (2 * core->now.turns - 1),
             rest_ns = half_ns < core->now.limit_ns / 2 ? core->now.limit_ns / 2 : half_ns;
    uint64_t waited_ns = core->now.lost_ns < core->now.away_ns ? core->now.lost_ns : core->now.away_ns;
    if (core->now.ends_ns)
        rest_ns = core->now.ends_ns > delivery->due_ns ? core->now.ends_ns - delivery->due_ns : 0;
    return rest_ns < waited_ns ? rest_ns : waited_ns;
}

/* Returns true if the kernel's counts were read at this sample. */
static bool core_counts_are_current(const struct core *core, const struct delivery *delivery)
{
    return core->asked.at_ns >= delivery->clocks.ns;
}

/* Converts a time in ns to a number of moments of this delivery. */
static double core_as_moments(const struct delivery *delivery, uint64_t ns)
{
    return (double)ns * (double)delivery->count / delivery->p;
}

/* Adds the sleep since the last sample to `owed`, the moments that samples still have to find asleep. If the
 * thread has waited in OpenMP meanwhile, nothing shows how much of the sleep came after that wait. Sleep is
 * then assumed to have the same share of this sample's moments as of the time off core. */
static void core_owe_sleep(struct core *core, const struct delivery *delivery)
{
    if (core->now.stayed && core->counts.slept)
        core->owed.asleep += core_as_moments(delivery, core->counts.slept_ns);
    else if (core->now.is_owed && core->counts.off_core_ns)
        core->owed.asleep += (double)core->counts.slept_ns / (double)core->counts.off_core_ns * (double)delivery->count;
}

/* Subtracts moments that were found asleep from `owed`. Adds the time for which the thread would have slept
 * on without the sample's signal. */
static void core_note_asleep(struct core *core, const struct delivery *delivery, uint64_t moments)
{
    if (core->now.stayed)
        core->owed.asleep += core_as_moments(delivery, core->now.woken_ns);
    if (core->now.is_owed)
        core->owed.asleep -= (double)moments;
}

/* Returns true if the thread has slept since its last sample, and is just leaving a system call that may
 * sleep or a wait for a page. After a single turn, the lost time decides, whatever the call is: a thread that
 * already lacked a core before the moment was not asleep at the moment. */
static bool core_comes_out_of_call(struct core *core, const struct delivery *delivery, const ucontext_t *context)
{
    core->now.limit_ns = 0;
    if (!core->now.turns || !core->counts.slept || !core->now.in_code || core->counts.got_ns < delivery->due_ns)
        return false;
    if (!core->now.in_call)
        return core->counts.faulted || restart_call_before(context) >= RESTART_CALL_WAIT;
    core->now.limit_ns = restart_sleep_limit_ns(context);
    return core->now.limit_ns < UINT64_MAX ||
           (core->now.turns == 1 && core->now.lost_ns > core->now.away_ns + STATE_GRACE_NS);
}

/* Returns true with probability `part`. The draw is a hash of the number: equal numbers give equal results. */
static bool core_is_drawn(uint64_t number, double part)
{
    return (double)(hash_number(number) >> 11) * 0x1p-53 < part;
}

/* Returns for how many moments the thread has lacked a core since the last sample, without the time for which
 * it would have slept on. */
static double core_moments_lost(const struct core *core, const struct delivery *delivery)
{
    return core_as_moments(delivery, core->now.lost_ns - core->now.woken_ns);
}

static bool core_none_is_too_often(const struct core *core, const struct delivery *delivery)
{
    double beyond = 1 - core->owed.none - core_moments_lost(core, delivery);
    return beyond > NONE_LIMIT && beyond * beyond > BY_CHANCE * BY_CHANCE * core->owed.none_spread;
}

/* Returns true if a thread that is leaving a call was still asleep at the moment, given several turns since
 * the last sample. This is certain if too many moments would otherwise count as without a core. In other
 * cases it is drawn, with `owed` as the probability. */
static bool core_slept_at_moment(const struct core *core, const struct delivery *delivery)
{
    return core->now.turns > 1 &&
           (core_is_drawn(delivery->due_ns, core->owed.asleep) || core_none_is_too_often(core, delivery));
}

/* Books a sleep that ended `ns` after the first moment. At later moments the thread was ready to run. */
static enum core_state core_book_sleep(struct core *core, const struct delivery *delivery, uint64_t ns)
{
    uint64_t moments = core_moments_within(core, delivery, ns);
    core_note_asleep(core, delivery, moments);
    if (moments >= delivery->count)
        return CORE_ASLEEP;
    core->now.first = CORE_ASLEEP;
    core->now.first_moments = moments;
    return CORE_NONE;
}

/* Books a sleep that the sample's signal has cut short. Moments up to its expected end count as asleep. At
 * later moments the thread counts as ready to run. */
static enum core_state core_book_cut_sleep(struct core *core, const struct delivery *delivery)
{
    core->now.woken_ns = core_sleep_rest_ns(core, delivery);
    return core_book_sleep(core, delivery, core->now.woken_ns + 1);
}

/* Books a sleep at the first moments. Either the thread slept until it got its core, or it woke before, by
 * the signal or because the sleep was over, and then waited for a core. */
static enum core_state core_explain_sleep(struct core *core, const struct delivery *delivery, bool out_of_call)
{
    core->now.woken_ns = core->now.lost_ns < core->now.away_ns ? core->now.lost_ns : core->now.away_ns;
    if (out_of_call && core->now.lost_ns + STATE_LATE_NS > core->now.away_ns)
        return core_book_cut_sleep(core, delivery);
    if (core->now.in_call || !core->now.in_code || core->now.away_ns - core->now.lost_ns >= STOPPED_NS) {
        core_note_asleep(core, delivery, delivery->count);
        return CORE_ASLEEP;
    }
    core->now.woken_ns = 0; /* The sleep ended by itself, not by the signal. */
    return core_book_sleep(core, delivery, core->now.away_ns - core->now.lost_ns);
}

/* Returns true if the thread waits for its team, and is right behind the call in which it slept. (Or behind the one that
 * wakes the others.) If it slept for long behind the moment, the process may have been stopped. */
static bool core_comes_out_of_wait(const struct core *core, const ucontext_t *context)
{
    return load_relaxed(&core->line->state) == STATE_IDLE && core->now.turns && core->counts.slept &&
           !core->now.in_call && core->now.away_ns < core->now.lost_ns + STOPPED_NS &&
           restart_call_before(context) >= RESTART_CALL_WAIT &&
           (registers_argument(context, 1) & FUTEX_CMD_MASK) != FUTEX_WAKE;
}

/* Returns when another thread ended the wait that the thread comes out of; 0 if that is unknown. A thread that was woken so
 * long before it got its core has lacked one since. Of several threads that signal, the first may have woken another one. */
static uint64_t core_released_ns(const struct core *core)
{
    for (uint32_t i = 0; i < core->now.signals; i++) {
        uint64_t at_ns = core->now.signalled_ns[i];
        if (at_ns < core->counts.got_ns && core->counts.got_ns - at_ns <= core->now.lost_ns + STATE_LATE_NS)
            return at_ns;
    }
    return 0;
}

/* Books a wait that another thread has ended at that time. */
static enum core_state core_book_released(struct core *core, const struct delivery *delivery, uint64_t released_ns)
{
    if (released_ns <= delivery->due_ns)
        return CORE_NONE;
    uint64_t asleep_ns = released_ns - delivery->due_ns;
    core->now.woken_ns = core->now.lost_ns < asleep_ns ? core->now.lost_ns : asleep_ns;
    return core_book_sleep(core, delivery, asleep_ns);
}

/* Returns true if the thread lacked a core when the signal was sent, and got one only shortly before the
 * handler began.
 *
 * A timer tick can look the same, and so can a program that reads its own CPU time. So three conditions must
 * hold. The thread has lacked a core for at least that long. Such samples are not more frequent than the
 * thread's turns make possible, nor than samples that waited up to twice as long. The moments found without a
 * core do not exceed the kernel's count: a thread that often loses its core and gets it back at once would
 * exceed it. */
static bool core_got_it_just_now(struct core *core, const struct delivery *delivery, uint64_t away_ns)
{
    bool seems = away_ns && away_ns < STATE_LATE_NS && core->now.lost_ns >= away_ns &&
                 (core->counts.preempted || !core->now.in_code);
    double passed_ns = (double)(delivery->clocks.ns - core->counts.read_ns) + 1,
           possible = (double)core->now.turns * STATE_LATE_NS / passed_ns;
    if (away_ns < STATE_LATE_NS)
        core->owed.doubt = DOUBT_KEPT * core->owed.doubt + seems - DOUBT_MARGIN * possible;
    else if (away_ns < 2 * STATE_LATE_NS)
        core->owed.doubt -= DOUBT_MARGIN;
    if (core->owed.doubt < 0)
        core->owed.doubt = 0;
    return seems && core->owed.doubt < DOUBT_LIMIT && !core_none_is_too_often(core, delivery);
}

/* Adds the time lost since the last sample to owed.none, the moments that samples still have to find without
 * a core. Subtracts the moments that this sample has found. */
static void core_note_none(struct core *core, const struct delivery *delivery)
{
    double found = core->now.state == CORE_NONE ? (double)core_moments_in_state(core, delivery) : 0,
           lost = core_moments_lost(core, delivery);
    double passed = core_as_moments(delivery, delivery->clocks.ns - core->counts.read_ns),
           spread = lost < passed ? lost * (1 - lost / passed) : 0;
    core->owed.none = NONE_KEPT * core->owed.none + lost - found;
    core->owed.none_spread = NONE_KEPT * NONE_KEPT * core->owed.none_spread + (spread < 0.25 ? spread : 0.25);
}

/* For code that leaves its core often, adds to owed.work the work that this sample should find. Returns false
 * for other code.
 *
 * The kernel counts how long such code had a core between the end of the last sample and this sample's
 * moment. That time is work, and the samples must find it. They find too little of it: a thread that is about
 * to sleep in the kernel is asleep when the signal arrives. Whether code is of this kind depends on earlier
 * samples only, because this sample's own result would bias the decision. Code that has waited for its team
 * since the last sample is excluded. */
static bool core_expect_work(struct core *core, const struct delivery *delivery)
{
    if (!core_counts_are_current(core, delivery))
        return false;
    bool leaves_often = core->owed.mean_turns >= OFTEN && core->owed.mean_on_ns < core->owed.mean_turns * LONG_WORK_NS;
    bool is_counted = leaves_often && core->now.stayed && delivery->count == 1;
    core->owed.mean_turns += ((double)core->now.turns - core->owed.mean_turns) / SAMPLES;
    core->owed.mean_on_ns += ((double)core->counts.on_core_ns - core->owed.mean_on_ns) / SAMPLES;
    if (!is_counted)
        return false;
    double samples_ns = (double)(core->asked.handler_ns + core->now.since_due_ns),
           own_ns = (double)core->counts.on_core_ns - samples_ns;
    if (own_ns > 0 && samples_ns < delivery->p / 2)
        core->owed.work += own_ns / (delivery->p - samples_ns);
    core->owed.work = core_clamp(-MOST_FOUND, core->owed.work, MOST_OWED);
    return true;
}

static enum core_state core_note_work(struct core *core)
{
    core->owed.work -= 1;
    return CORE_HAD;
}

static enum core_state core_explain_state(struct core *core, const struct delivery *delivery, uint64_t away_ns,
                                          const ucontext_t *context)
{
    core->now.away_ns = away_ns;
    /* If the thread has not slept, it is in a poll with timeout 0, which also returns EINTR. */
    core->now.in_call = (core->counts.slept || core->counts.switches.sleeps < 0) && restart_is_asleep(context);
    core->now.stayed = core->now.stayed && core->now.turns && core_counts_are_current(core, delivery);
    bool is_away = away_ns >= STATE_LATE_NS, out_of_call = core_comes_out_of_call(core, delivery, context);
    bool only_slept = out_of_call ? core->now.lost_ns <= away_ns + STATE_GRACE_NS
                                  : is_away && core->counts.slept &&
                                        core->now.lost_ns + (core->now.in_code ? STATE_LATE_NS : 0) <= away_ns;
    bool may_sleep = core->now.turns && core->now.in_code && (core->now.in_call || out_of_call);
    core->now.is_owed = core->now.stayed || may_sleep;
    core->now.ends_ns = may_sleep ? core_sleep_end_ns(core, delivery, context) : 0;
    bool is_counted = core_expect_work(core, delivery);
    core_owe_sleep(core, delivery);
    if (is_counted && may_sleep && core->owed.work >= 1)
        return core_note_work(core);
    bool out_of_wait = core_comes_out_of_wait(core, context);
    uint64_t released_ns = out_of_wait || (out_of_call && !core->now.in_call) ? core_released_ns(core) : 0;
    if (released_ns)
        return core_book_released(core, delivery, released_ns);
    if ((core->now.in_call && !out_of_call) || only_slept || (out_of_call && core_slept_at_moment(core, delivery)) ||
        (out_of_wait && !core_is_drawn(delivery->due_ns, core->owed.none + core_moments_lost(core, delivery))))
        return core_explain_sleep(core, delivery, out_of_call);
    if (!core_got_it_just_now(core, delivery, away_ns) && !is_away && !out_of_call)
        return is_counted ? core_note_work(core) : CORE_HAD;
    if (!out_of_call) /* A thread that is leaving a call has executed nothing since the call. */
        core_note_had(core, delivery, away_ns);
    return CORE_NONE;
}

/* Decides what the thread did in the away_ns from its first moment until it got its core. It may have had a
 * core, slept, or waited for a core, either all of this time or after the signal woke it. Sets which moments
 * have another state than the last ones. The sample's counts must be filled in before. */
static __attribute__((noinline)) enum core_state core_explain_away(struct core *core, const struct delivery *delivery,
                                                                   uint64_t away_ns, const ucontext_t *context)
{
    core->now.state = core_explain_state(core, delivery, away_ns, context);
    core->owed.asleep = core_clamp(-MOST_ASLEEP, core->owed.asleep, MOST_ASLEEP);
    core_note_none(core, delivery);
    return core->now.state;
}

/* ---- asking the kernel ---- */

#define CLOCKS_APART 64 /* the wall clock and the kernel's counts differ by at most 1/64 */

/* True on kernels that update a thread's time on a core at ticks and switches, and not when it is read. Only
 * with these does the count show how long ago the thread got its core. */
static bool counts_lag;

static void core_note_lag(struct core *core)
{
    struct run_counts again;
    if (run_counts_read(&core->file, &again) && again.on_core_ns == core->counts.last.on_core_ns)
        store_relaxed(&counts_lag, true);
}

static void core_note_cpu_time(struct core *core, uint64_t now_ns, uint64_t cpu_ns)
{
    core->asked.at_ns = now_ns;
    core->asked.cpu_ns = cpu_ns;
    core->asked.no_core_ns = core->counts.last.no_core_ns;
}

/* Sets whether the thread slept, waited for a page, or lost its core since the last query. */
static void core_ask_switches(struct core *core)
{
    struct run_switches before = core->counts.switches;
    core->counts.switches = run_switches();
    core->counts.slept = core->counts.switches.sleeps != before.sleeps;
    core->counts.faulted = core->counts.switches.faults != before.faults;
    core->counts.preempted = core->counts.switches.preemptions != before.preemptions;
}

static void core_ask_clock_from_now(struct core *core, struct profile_thread *ledger)
{
    ledger->core_source = PROFILE_CORE_CPU_CLOCK;
    core->counts.last.on_core_ns = clock_thread_cpu_ns();
    core->now.stolen_part = 0; /* A CPU clock cannot show stolen time. */
}

void core_begin(struct core *core, const struct state_line *line, const struct moments *moments,
                struct profile_thread *ledger)
{
    *core = (struct core){.line = line, .moments = moments, .counts.read_ns = clock_now_ns()};
    core->counts.switches = run_switches();
    if (run_file_keep(&core->file) && run_counts_read(&core->file, &core->counts.last)) {
        ledger->core_source = PROFILE_CORE_SCHEDSTAT;
        core_note_lag(core);
        core_note_cpu_time(core, clock_now_ns(), clock_thread_cpu_ns());
    } else if (core->counts.switches.sleeps >= 0) {
        core_ask_clock_from_now(core, ledger);
    }
    core->counts.begun = core->counts.last;
}

void core_end(struct core *core)
{
    run_file_let_go(&core->file);
}

/* Returns for how many ns a hypervisor has run something else on the thread's core; 0 if that is unknown, or
 * too little to be certain.
 *
 * During that time the wall clock advances, but none of the kernel's counts does. The loss since the CPU time
 * was last read is exact, provided that it exceeds the difference of the clocks and the cost of interrupts.
 * Otherwise this returns a lower bound of the loss since the last sample: the CPU time between that sample
 * and the tick before it is unknown. After a sleep, the loss is unknown. */
static uint64_t core_stolen_ns(const struct core *core, uint64_t on_core_before_ns, uint64_t now_ns, uint64_t cpu_ns)
{
    int64_t passed_ns = (int64_t)(now_ns - core->asked.at_ns);
    int64_t rest_ns = passed_ns - (int64_t)(cpu_ns - core->asked.cpu_ns) -
                      (int64_t)(core->counts.last.no_core_ns - core->asked.no_core_ns);
    if (core->asked.at_ns < core->counts.read_ns && rest_ns < passed_ns / CLOCKS_APART)
        rest_ns = (int64_t)(now_ns - core->counts.read_ns) - (int64_t)(cpu_ns - on_core_before_ns) -
                  (int64_t)core->now.lost_ns;
    return rest_ns >= (int64_t)STATE_LATE_NS && !core->counts.slept && core->counts.switches.sleeps >= 0
               ? (uint64_t)rest_ns
               : 0;
}

static bool core_is_late(const struct delivery *delivery)
{
    return delivery->clocks.ns - delivery->due_ns >= STATE_LATE_NS;
}

/* Decides the state of a thread that has had a turn on a core since the last sample, or whose sample is late
 * without a turn. A function of its own, so that other samples pay nothing for it. */
static __attribute__((noinline)) enum core_state core_ask_closely(struct core *core, uint64_t turns,
                                                                  uint64_t on_core_before_ns,
                                                                  const struct delivery *delivery,
                                                                  const ucontext_t *context)
{
    core->now.turns = turns;
    if (turns)
        core_ask_switches(core);
    else
        core->counts.slept = false;
    uint64_t now_ns = clock_now_ns(), cpu_ns = clock_thread_cpu_ns(), late_ns = now_ns - delivery->due_ns;
    uint64_t stolen = core_is_late(delivery) ? core_stolen_ns(core, on_core_before_ns, now_ns, cpu_ns) : 0;
    /* lower bound of the ns since the thread got its core */
    uint64_t on_core_ns = stolen ? 0 : cpu_ns - core->counts.last.on_core_ns;
    uint64_t no_core_ns = core->counts.last.no_core_ns - core->asked.no_core_ns;
    core->counts.on_core_ns = cpu_ns - core->asked.cpu_ns;
    core->counts.off_core_ns = now_ns - core->asked.at_ns - core->counts.on_core_ns;
    core->counts.slept_ns = core->counts.off_core_ns > no_core_ns ? core->counts.off_core_ns - no_core_ns : 0;
    core_note_cpu_time(core, now_ns, cpu_ns);
    if (!turns && !stolen)
        return CORE_HAD;
    core->counts.got_ns = now_ns - on_core_ns;
    core->now.since_due_ns = on_core_ns < late_ns ? on_core_ns : late_ns;
    core->counts.gone_ns = core->now.lost_ns += stolen;
    core->now.stolen_part = stolen ? (double)stolen / (double)core->counts.gone_ns : 0;
    if (on_core_ns >= late_ns || (!core_is_late(delivery) && !load_relaxed(&counts_lag)))
        return core_explain_away(core, delivery, 0, context);
    return core_explain_away(core, delivery, late_ns - on_core_ns, context);
}

/* Notes whether the thread executes the program's code, and whether it has done so since the last sample.
 * Must be called before the counts are read again. */
static void core_note_where(struct core *core)
{
    bool was_in_code = core->now.in_code;
    core->before.in_call = core->now.in_call;
    core->now.in_call = core->now.stayed = false;
    core->now.in_code = state_is_in_code(core->line) && !load_relaxed(&core->line->wait_key);
    if (!core->now.in_code)
        return;
    uint32_t acquisitions = load_relaxed(&core->line->acquisitions);
    uint64_t waited_ticks = load_relaxed(&core->line->idle_since);
    core->now.stayed =
        was_in_code && acquisitions == core->before.acquisitions && waited_ticks == core->before.waited_ticks;
    core->before.acquisitions = acquisitions;
    core->before.waited_ticks = waited_ticks;
}

static enum core_state core_ask_kernel(struct core *core, struct profile_thread *ledger,
                                       const struct delivery *delivery, const ucontext_t *context)
{
    struct run_counts before = core->counts.last;
    core_note_where(core);
    /* The program has closed our descriptor of the file. */
    if (!run_counts_read(&core->file, &core->counts.last)) {
        core_ask_clock_from_now(core, ledger);
        ledger->core_unasked += core_is_late(delivery) ? delivery->count : 0;
        return CORE_HAD;
    }
    core->now.lost_ns = core->counts.last.no_core_ns - before.no_core_ns;
    if (core->counts.last.turns != before.turns)
        return core_ask_closely(core, core->counts.last.turns - before.turns, before.on_core_ns, delivery, context);
    /* The handler of the last sample lost its core before it read the counts, so the counts already included
     * this loss. */
    if (delivery->due_ns < core->counts.got_ns)
        return core_explain_away(core, delivery, core->counts.got_ns - delivery->due_ns, context);
    return core_is_late(delivery) ? core_ask_closely(core, 0, before.on_core_ns, delivery, context) : CORE_HAD;
}

/* Decides the state from the CPU clock alone. All time since the last sample in which the thread did not run
 * counts as time without a core. If the thread has also slept, the length of that sleep is unknown. */
static enum core_state core_ask_clock(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
                                      const ucontext_t *context)
{
    uint64_t passed_ns = delivery->clocks.ns - core->counts.read_ns, late_ns = delivery->clocks.ns - delivery->due_ns;
    uint64_t cpu_ns = clock_thread_cpu_ns(), used_ns = cpu_ns - core->counts.last.on_core_ns;
    uint64_t away_ns = passed_ns > used_ns ? passed_ns - used_ns : 0;
    bool came_late = core_is_late(delivery) && away_ns + STATE_LATE_NS >= late_ns;
    core_ask_switches(core);
    core->counts.last.on_core_ns = cpu_ns;
    core->now.lost_ns = core->counts.gone_ns = core->counts.slept ? 0 : away_ns;
    core->now.away_ns = core->now.lost_ns < late_ns ? core->now.lost_ns : late_ns;
    core->counts.got_ns = delivery->due_ns + core->now.away_ns;
    core->now.in_call = restart_is_asleep(context);
    ledger->core_unasked += core->counts.slept && came_late ? delivery->count : 0;
    if (core->now.in_call || (came_late && core->counts.slept))
        return CORE_ASLEEP;
    return came_late ? CORE_NONE : CORE_HAD;
}

void core_ask(struct core *core, struct profile_thread *ledger, const struct delivery *delivery,
              const ucontext_t *context)
{
    core->now.state = CORE_HAD;
    core->now.lost_ns = core->now.away_ns = core->now.woken_ns = core->now.first_moments = core->now.had_last = 0;
    if (ledger->core_source == PROFILE_CORE_SCHEDSTAT)
        core->now.state = core_ask_kernel(core, ledger, delivery, context);
    else if (ledger->core_source == PROFILE_CORE_CPU_CLOCK)
        core->now.state = core_ask_clock(core, ledger, delivery, context);
    core->counts.read_ns = delivery->clocks.ns;
}

void core_pass_over(struct core *core, struct profile_thread *ledger)
{
    uint64_t before_ns = core->counts.last.no_core_ns;
    if (ledger->core_source != PROFILE_CORE_SCHEDSTAT || !run_counts_read(&core->file, &core->counts.last))
        return;
    ledger->no_core_dropped_ns += (double)(core->counts.last.no_core_ns - before_ns);
    core->counts.read_ns = clock_now_ns();
}

struct core_since core_catch_up(struct core *core)
{
    struct run_counts before = core->counts.last;
    long sleeps = core->counts.switches.sleeps;
    struct core_since since = {0};
    if (run_counts_read(&core->file, &core->counts.last))
        since.no_core_ns = core->counts.last.no_core_ns - before.no_core_ns;
    uint64_t used_ns = clock_thread_cpu_ns() - core->asked.cpu_ns;
    core_ask_switches(core);
    since.sleeps = core->counts.switches.sleeps - sleeps;
    if (used_ns > core->asked.handler_ns)
        since.on_core_ns = used_ns - core->asked.handler_ns;
    core->counts.read_ns = clock_now_ns();
    core_note_cpu_time(core, core->counts.read_ns, core->asked.cpu_ns + used_ns);
    core->asked.handler_ns = 0;
    return since;
}

void core_leave(struct core *core, uint64_t now_ns)
{
    if (likely(core->asked.at_ns < now_ns)) /* This sample has not read the CPU time. */
        return;
    core->asked.handler_ns = core->now.turns && core->now.in_code ? clock_thread_cpu_ns() - core->asked.cpu_ns : 0;
}

/* ---- whether the whole process was stopped ---- */

/* A stop is the cause of a late sample only if gaps and time without a core explain all but 1/PARTS of the
 * delay. */
#define PARTS 10u

uint64_t stopped_heard;
/* value of the total length of gaps, in ticks, at the end of the last gap that was certainly a stop */
static uint32_t certain;

/* Returns true if so many ticks without any sample in the process are a gap. With a long sampling period,
 * such a time is normal. */
static bool stopped_is_gap(uint32_t ticks)
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
    if (before && stopped_is_gap(now - heard))
        silence += now - heard;
    /* If another thread has updated the word at the same time, its value stands. */
    compare_exchange(&stopped_heard, &before, (uint64_t)now << 32 | silence);
}

/* Returns true if any thread waits in OpenMP. Such a thread spins, or sleeps in a call that signals
 * interrupt. If its sample is late as well, the whole process was stopped. */
static bool stopped_any_idle(void)
{
    const struct state_line *line;
    for (uint32_t number = 0; (line = state_line_at(number)); number++)
        if (load_relaxed(&line->state) == STATE_IDLE)
            return true;
    return false;
}

static bool stopped_is_certain(const struct core *core, const ucontext_t *context)
{
    if (core->now.in_call || stopped_any_idle())
        return true;
    return !core->counts.faulted && restart_call_before(context) != RESTART_CALL_OTHER;
}

bool stopped_until_now(struct core *core, const struct delivery *delivery, const ucontext_t *context)
{
    uint64_t heard = load_relaxed(&stopped_heard), late_ns = delivery->clocks.ns - delivery->due_ns;
    uint32_t before = core->before.silence, silence = (uint32_t)heard, since = silence - before;
    bool overtaken = (int32_t)((uint32_t)(heard >> 32) - (uint32_t)(delivery->clocks.ns >> STOPPED_TICK)) > 0;
    /* A thread that was stopped in this handler, and overtaken by another one, has a late sample only next. */
    if (likely(!overtaken) || late_ns >= STOPPED_NS)
        core->before.silence = silence;
    if (likely(late_ns < STOPPED_NS) || core->now.state != CORE_ASLEEP || core->now.lost_ns + STOPPED_NS > late_ns)
        return false;
    if (((uint64_t)since << STOPPED_TICK) + core->now.lost_ns < late_ns - late_ns / PARTS)
        return false;
    if (stopped_is_certain(core, context))
        store_relaxed(&certain, silence);
    /* no gap since this thread's last sample was certainly a stop */
    if (load_relaxed(&certain) - before - 1 >= since)
        return false;
    if (!core->now.in_call) { /* The thread was not asleep in a call, so it lacked a core after the stop. */
        core->now.state = CORE_NONE;
        core->now.woken_ns = 0;
    }
    return true;
}
