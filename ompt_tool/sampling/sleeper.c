/* This file runs in the signal handler: the rules at the head of sampler.c apply. */
#include "ompt_tool/sampling/sleeper.h"

#include "base/atomics.h"
#include "base/os.h"
#include "blame/state.h"
#include "cct/timeline/moment.h"
#include "ompt_tool/context/probe_stack.h"
#include "ompt_tool/restart/restart.h"
#include "ompt_tool/sampling/core_idle.h"
#include "ompt_tool/sampling/sample.h"
#include "ompt_tool/sampling/shared_timer.h"
#include "ompt_tool/sampling/tracing.h"
#include "ompt_tool/session/session.h"

#define LEAST_NS    20000000u /* time in a sleep after which the thread counts as a sleeper */
#define FOUND       3         /* number of samples in one sleep after which the thread counts as a sleeper */
#define MOST_GAP_NS NS_PER_S  /* most time between two samples of a sleeper */
#define SLACK_NS    50000u    /* by so much a sleep may end before its known end: the kernel's timer slack */
#define EARLY_NS    1000000u  /* CPU time that shows that a sleep has ended before its known end */
#define AT_ONCE_NS  1         /* for the CPU timer: expires at the next clock tick */

/* number of gaps that a thread must sleep through before the next ones may be twice as long: at first, and at most */
#define PATIENCE      2u
#define MOST_PATIENCE 1024u

static uint64_t tick_ns;

void sleeper_init(void)
{
    tick_ns = os_tick_ns();
}

/* ---- booking ---- */

/* Returns the delivery for the time from the end of what is booked up to end_ns, and counts that time as booked. Its
 * moments are spread evenly. */
static struct delivery sleeper_take(struct thread *thread, uint64_t end_ns, const struct clock_reading *clocks)
{
    struct thread_sleep *sleep = &thread->sleep;
    uint64_t length_ns = end_ns - sleep->begin_ns, period_ns = thread->sampling.moments.period_ns;
    uint64_t count = (length_ns + period_ns / 2) / period_ns;
    count += !count;
    struct delivery part = {.count = count,
                            .p = (double)length_ns,
                            .clocks = *clocks,
                            .due_ns = sleep->begin_ns + length_ns / (2 * count),
                            .census_ns = end_ns - length_ns / (2 * count),
                            .until_ns = end_ns};
    if (count == 1)
        part.due_ns = part.census_ns = end_ns < clocks->ns ? end_ns : clocks->ns;
    sleep->begin_ns = end_ns;
    if (unlikely(thread->probes && load_relaxed(&thread->probes->count)))
        thread->ledger->probed_sampled += part.p;
    return part;
}

/* Books the time up to end_ns in the context of the sleep. */
static void sleeper_book(struct thread *thread, uint64_t end_ns, bool no_core, const struct clock_reading *clocks)
{
    struct thread_sleep *sleep = &thread->sleep;
    if (end_ns <= sleep->begin_ns)
        return;
    uint64_t middle_ns = sleep->begin_ns + (end_ns - sleep->begin_ns) / 2;
    struct delivery part = sleeper_take(thread, end_ns, clocks);
    if (part.count == 1) /* not at the end, when the thread that has woken this one may fall asleep */
        part.due_ns = part.census_ns = middle_ns < clocks->ns ? middle_ns : clocks->ns;
    tracing_begin(thread, &part);
    sample_record_sleep(thread, sleep->grafts == thread->tree.grafts ? sleep->node_idx : thread->tree.root, no_core,
                        &part);
    tracing_end(thread, &part);
}

/* Books the time up to end_ns in the context, and by the state, in which the thread is now. */
static void sleeper_book_now(struct thread *thread, uint64_t end_ns, const struct clock_reading *clocks,
                             const ucontext_t *context)
{
    if (end_ns <= thread->sleep.begin_ns)
        return;
    struct delivery part = sleeper_take(thread, end_ns, clocks);
    thread->ledger->delivered += part.count;
    tracing_begin(thread, &part);
    sample_record_state(thread, &part, context);
    tracing_end(thread, &part);
}

void sleeper_drop(struct thread *thread, uint64_t now_ns, enum profile_drop cause)
{
    struct thread_sleep *sleep = &thread->sleep;
    struct delivery lost = {.count = 1, .p = now_ns > sleep->begin_ns ? (double)(now_ns - sleep->begin_ns) : 0};
    thread->ledger->delivered += lost.count;
    sample_drop(thread, &lost, cause);
    if (lost.p > 0)
        sleep->begin_ns = now_ns;
    sleep->state = SLEEP_NONE;
}

/* ---- what a signal has found ---- */

static struct core_since sleeper_ask(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    struct core *core = &thread->core;
    long sleeps = core->counts.switches.sleeps;
    uint64_t handler_ns = core->asked.handler_ns;
    sample_ask(thread, delivery, context);
    thread->ledger->idle_no_core += (double)core->now.woken_ns;
    core->before.threads = thread_sampled();
    struct core_since counts = {.sleeps = core->counts.switches.sleeps - sleeps};
    if (core->asked.at_ns >= delivery->clocks.ns && core->counts.on_core_ns > handler_ns)
        counts.on_core_ns = core->counts.on_core_ns - handler_ns;
    if (core->now.lost_ns > core->now.woken_ns)
        counts.no_core_ns = core->now.lost_ns - core->now.woken_ns;
    return counts;
}

/* Books the sleep up to end_ns, but its last part, in which the thread waited for a core. */
static void sleeper_book_sleep(struct thread *thread, uint64_t end_ns, uint64_t no_core_ns,
                               const struct clock_reading *clocks)
{
    uint64_t begin_ns = thread->sleep.begin_ns;
    uint64_t woken_ns = end_ns > begin_ns + no_core_ns ? end_ns - no_core_ns : begin_ns;
    sleeper_book(thread, woken_ns, false, clocks);
    if (unlikely(session.counts_cores)) /* from here on, the thread uses a core, or wants to */
        core_idle_note_awake(thread, (uint64_t)clock_ns_ticks(clocks, woken_ns < clocks->ns ? woken_ns : clocks->ns));
    sleeper_book(thread, end_ns, true, clocks);
}

static bool sleeper_is_asleep(const struct thread *thread)
{
    return thread->core.now.state == CORE_ASLEEP && thread->core.now.in_call && thread->core.now.in_code;
}

/* Records the first sample after a sleep that ended at its known end. Its moment is a random one of the first period
 * after that. */
static void sleeper_record_end(struct thread *thread, const struct delivery *delivery, const struct core_since *counts,
                               const ucontext_t *context)
{
    struct thread_sleep *sleep = &thread->sleep;
    uint64_t awake_ns = counts->on_core_ns + counts->no_core_ns;
    if (counts->sleeps == 2 && sleeper_is_asleep(thread)) /* The beginning of the next sleep is known, too. */
        thread->core.now.ends_ns =
            restart_sleep_end_ns(context, sleep->ends_ns + SLACK_NS + awake_ns, 0, delivery->clocks.ns);
    sleeper_book_sleep(thread, sleep->ends_ns, 0, &delivery->clocks);
    sleeper_book_now(thread, sleep->ends_ns + thread->sampling.moments.period_ns, &delivery->clocks, context);
    sleep->state = SLEEP_NONE;
}

/* Makes gaps short again, and lets them grow more slowly than before: the thread goes from one sleep to another too fast
 * to be noticed in between. */
static void sleeper_distrust(struct thread_sleep *sleep)
{
    sleep->most_gap_ns = 0;
    sleep->gaps = 0;
    sleep->patience = sleep->patience < MOST_PATIENCE ? sleep->patience * 4 : MOST_PATIENCE;
}

/* Notes a gap through which the thread has slept. After several of them, longer ones are permitted. */
static void sleeper_trust(struct thread_sleep *sleep)
{
    if (++sleep->gaps < sleep->patience)
        return;
    sleep->gaps = 0;
    sleep->most_gap_ns = sleep->most_gap_ns < MOST_GAP_NS ? sleep->most_gap_ns * 2 : MOST_GAP_NS;
}

/* Records that the thread sleeps, but has been awake since its last sample: for how long it slept in either sleep is
 * unknown. If the two sleeps are in different contexts, each gets half of the time. */
static void sleeper_record_another(struct thread *thread, const struct delivery *delivery, uint64_t no_core_ns,
                                   const ucontext_t *context)
{
    struct thread_sleep *sleep = &thread->sleep;
    uint64_t now_ns = delivery->clocks.ns;
    uint32_t before_idx = sleep->node_idx;
    if (now_ns > sleep->begin_ns)
        sleeper_book_sleep(thread, sleep->begin_ns + (now_ns - sleep->begin_ns) / 2, no_core_ns, &delivery->clocks);
    sleeper_book_now(thread, now_ns, &delivery->clocks, context);
    sleep->state = SLEEP_NONE;
    if (sleep->node_idx != before_idx || sleep->found_ns != now_ns) /* another context, or a wait for a lock */
        sleeper_distrust(sleep);
}

/* Records that the process was stopped when the signal was due. The stop began at an unknown time since the last sample
 * of any thread. */
static void sleeper_record_stop(struct thread *thread, const struct delivery *delivery, uint32_t silence)
{
    struct thread_sleep *sleep = &thread->sleep;
    uint64_t now_ns = delivery->clocks.ns, begin_ns = now_ns - ((uint64_t)silence << STOPPED_TICK);
    if (begin_ns < sleep->begin_ns)
        begin_ns = sleep->begin_ns;
    if (begin_ns < delivery->due_ns)
        sleeper_book(thread, begin_ns + (delivery->due_ns - begin_ns) / 2, false, &delivery->clocks);
    sleep->state = SLEEP_NONE;
    if (now_ns <= sleep->begin_ns)
        return;
    struct delivery part = sleeper_take(thread, now_ns, &delivery->clocks);
    thread->ledger->delivered += part.count;
    tracing_begin(thread, &part);
    if (!sample_book_stopped(thread, &part))
        sample_drop(thread, &part, PROFILE_DROP_NO_MEMORY);
    tracing_end(thread, &part);
}

/* Returns for how long the thread has had a core since its sleep. If it has slept more than once, it had a core before
 * its last sleep, too: then a tick comes after half a tick, on average. */
static uint64_t sleeper_awake_ns(const struct core_since *counts)
{
    return counts->sleeps > 1 && counts->on_core_ns > tick_ns / 2 ? tick_ns / 2 : counts->on_core_ns;
}

/* Records that the thread has a core. */
static void sleeper_record_awake(struct thread *thread, const struct delivery *delivery, bool by_cpu_timer,
                                 const struct core_since *counts, const ucontext_t *context)
{
    struct thread_sleep *sleep = &thread->sleep;
    uint64_t now_ns = delivery->clocks.ns, awake_ns = sleeper_awake_ns(counts);
    sleeper_book_sleep(thread, now_ns - awake_ns, counts->no_core_ns, &delivery->clocks);
    sleep->state = SLEEP_IS_OVER;
    if (!by_cpu_timer && now_ns < sleep->begin_ns + tick_ns)
        return; /* Another moment than that of a tick would come too often for the first tick's length. */
    uint64_t end_ns = now_ns - awake_ns + (awake_ns < tick_ns ? tick_ns : awake_ns);
    sleeper_book_now(thread, end_ns, &delivery->clocks, context);
    sleep->state = SLEEP_NONE;
}

static void sleeper_record_after(struct thread *thread, const struct delivery *delivery, const ucontext_t *context)
{
    struct thread_sleep *sleep = &thread->sleep;
    uint64_t end_ns = sleep->begin_ns + tick_ns;
    sleeper_ask(thread, delivery, context);
    sleeper_book_now(thread, end_ns > delivery->clocks.ns ? end_ns : delivery->clocks.ns, &delivery->clocks, context);
    sleep->state = SLEEP_NONE;
}

struct delivery sleeper_delivery(const struct thread *thread, bool by_cpu_timer, const struct clock_reading *clocks)
{
    uint64_t due_ns = by_cpu_timer || thread->sleep.due_ns > clocks->ns ? clocks->ns : thread->sleep.due_ns;
    return (struct delivery){.count = 1,
                             .p = (double)(clocks->ns - thread->core.counts.read_ns) + 1,
                             .clocks = *clocks,
                             .due_ns = due_ns,
                             .census_ns = due_ns,
                             .until_ns = clocks->ns};
}

void sleeper_record(struct thread *thread, const struct delivery *delivery, bool by_cpu_timer,
                    const ucontext_t *context)
{
    struct thread_sleep *sleep = &thread->sleep;
    uint64_t now_ns = delivery->clocks.ns;
    thread->ledger->last_ns = now_ns;
    if (unlikely(session_paused_ticks(delivery->clocks.ticks) != sleep->paused_ticks)) {
        core_pass_over(&thread->core, thread->ledger);
        sleeper_drop(thread, now_ns, PROFILE_DROP_PAUSED);
        return;
    }
    if (sleep->state == SLEEP_IS_OVER) {
        sleeper_record_after(thread, delivery, context);
        return;
    }
    uint32_t silence = thread->core.before.silence;
    struct core_since counts = sleeper_ask(thread, delivery, context);
    if (unlikely(stopped_until_now(&thread->core, delivery, context))) {
        sleeper_record_stop(thread, delivery, thread->core.before.silence - silence);
        return;
    }
    bool early =
        counts.sleeps == 1 && !sleeper_is_asleep(thread) && sleep->ends_ns + counts.on_core_ns > now_ns + EARLY_NS;
    if (sleep->ends_ns && !by_cpu_timer && !early && now_ns >= sleep->ends_ns) {
        sleeper_record_end(thread, delivery, &counts, context);
    } else if (sleeper_is_asleep(thread) && counts.sleeps == 1) {
        sleeper_book_now(thread, now_ns, &delivery->clocks, context);
        sleeper_trust(sleep);
    } else if (sleeper_is_asleep(thread)) {
        sleeper_record_another(thread, delivery, counts.no_core_ns, context);
    } else if (counts.sleeps || !restart_is_asleep(context)) {
        sleeper_record_awake(thread, delivery, by_cpu_timer, &counts, context);
    } /* else the thread has not gone back to sleep since the last sample's handler */
    if (unlikely(session.counts_cores) && sleeper_is_asleep(thread))
        core_idle_note_sleep(thread, delivery, false);
}

void sleeper_end(struct thread *thread, uint64_t end_ns)
{
    struct clock_reading clocks = clock_read();
    sleeper_book(thread, end_ns, false, &clocks);
    thread->sleep.state = SLEEP_NONE;
}

void sleeper_wake(struct thread *thread)
{
    struct clock_reading clocks = clock_read();
    struct core_since counts = core_catch_up(&thread->core);
    if (thread->sleep.state == SLEEP_GOES_ON)
        sleeper_book_sleep(thread, clocks.ns - sleeper_awake_ns(&counts), counts.no_core_ns, &clocks);
}

/* ---- when the next sample comes ---- */

static bool sleeper_make_cpu_timer(struct thread *thread, int signal)
{
    struct thread_sleep *sleep = &thread->sleep;
    if (sleep->cpu_word)
        return true;
    if (!os_timer_start(&sleep->cpu_timer, signal, true, 0, MOST_GAP_NS))
        return false;
    store_seq_cst(&sleep->cpu_word, shared_timer_word(sleep->cpu_timer));
    return true;
}

/* Returns true if all that happens in the thread during a long gap between samples can be accounted for afterwards. */
static bool sleeper_may_be(const struct thread *thread, uint64_t now_ns)
{
    const struct thread_sleep *sleep = &thread->sleep;
    return sleep->found >= FOUND && sleep->found_ns == now_ns && now_ns - sleep->since_ns >= LEAST_NS &&
           thread->sampling.drawn && thread->ledger->core_source == PROFILE_CORE_SCHEDSTAT &&
           !thread->restart.needs_baseline && !state_holds_locks(thread->line) && !thread->pthread.is_awaited &&
           !load_relaxed(&session.paused);
}

bool sleeper_begin(struct thread *thread, uint64_t now_ns, int signal)
{
    struct thread_sleep *sleep = &thread->sleep;
    uint64_t period_ns = thread->sampling.moments.period_ns, ends_ns = thread->core.now.ends_ns;
    if (likely(!sleeper_may_be(thread, now_ns)) || 4 * period_ns > MOST_GAP_NS || 2 * period_ns < tick_ns)
        return false;
    if ((ends_ns && ends_ns < now_ns + 2 * period_ns) || !sleeper_make_cpu_timer(thread, signal))
        return false;
    sleep->begin_ns = thread->sampling.moments.begin_ns;
    sleep->patience = sleep->patience ? sleep->patience : PATIENCE;
    sleep->paused_ticks = session_paused_ticks(0);
    sleep->state = SLEEP_GOES_ON;
    return true;
}

/* Sets the timers of a thread that sleeps: to a random moment of the first period after the sleep, if its end is
 * known and near, or to a time between one and two times as long from now as the sleep has lasted. */
static void sleeper_set_far(struct thread *thread, uint64_t now_ns)
{
    struct thread_sleep *sleep = &thread->sleep;
    const struct moments *moments = &thread->sampling.moments;
    uint64_t gap_ns = now_ns - sleep->since_ns, ends_ns = thread->core.now.ends_ns;
    uint64_t place = moment_place(now_ns, moments->salt, moments->thread, 0);
    if (sleep->most_gap_ns < 4 * moments->period_ns)
        sleep->most_gap_ns = 4 * moments->period_ns;
    if (gap_ns > sleep->most_gap_ns / 2)
        gap_ns = sleep->most_gap_ns / 2;
    sleep->due_ns = moment_at(now_ns + gap_ns, gap_ns, place);
    sleep->ends_ns = 0;
    if (ends_ns > now_ns + SLACK_NS && ends_ns > sleep->begin_ns + SLACK_NS && ends_ns < now_ns + MOST_GAP_NS) {
        sleep->ends_ns = ends_ns - SLACK_NS;
        sleep->due_ns = moment_at(sleep->ends_ns, moments->period_ns, place);
    }
    os_timer_set(thread->sampling.timer, false, sleep->due_ns, gap_ns);
    os_timer_set(sleep->cpu_timer, true, sleep->ends_ns ? 2 * moments->period_ns : AT_ONCE_NS, 0);
}

void sleeper_set_timers(struct thread *thread, uint64_t now_ns)
{
    struct thread_sleep *sleep = &thread->sleep;
    if (sleep->state == SLEEP_GOES_ON) {
        sleeper_set_far(thread, now_ns);
    } else {
        sleep->due_ns = sleep->begin_ns + tick_ns;
        os_timer_set(thread->sampling.timer, false, sleep->due_ns, tick_ns);
        os_timer_set(sleep->cpu_timer, true, AT_ONCE_NS, 0);
    }
    thread->sampling.second_ns = 0;
    thread->sampling.moments.next_ns = sleep->due_ns;
}
