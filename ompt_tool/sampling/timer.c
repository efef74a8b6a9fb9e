/* This file runs in the signal handler: the rules at the head of sampler.c apply. */
#include "ompt_tool/sampling/timer.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "base/invariant.h"
#include "base/os.h"
#include "blame/notes.h"
#include "cct/arena.h"
#include "ompt_tool/sampling/sleeper.h"
#include "ompt_tool/session/core.h"
#include "ompt_tool/session/session.h"

/* most samples per second and core for all threads together; a higher rate needs BLAME_RATE and at most one
 * thread per core */
#define RATE_PER_CORE 4000

uint64_t crowd_least_ns;

/* Lengthens the period as the number of threads grows. Each sample of a sleeping or waiting thread costs a
 * switch to that thread, so with hundreds of threads per core the program would hardly progress. A thread
 * always gets at least one sample a second. */
void crowd_grows(uint32_t threads)
{
    uint64_t rate = NS_PER_S / session.period_ns, cores = arena_header()->cores;
    uint64_t most = cores * (rate > RATE_PER_CORE ? rate : RATE_PER_CORE), period_ns = session.period_ns;
    while (rate > 1 && threads * rate > most) {
        rate = (rate + 1) / 2;
        period_ns *= 2;
    }
    uint64_t least_ns = load_relaxed(&crowd_least_ns);
    while (period_ns > least_ns && !compare_exchange(&crowd_least_ns, &least_ns, period_ns))
        ;
}

void crowd_forked(void)
{
    store_relaxed(&crowd_least_ns, 0);
}

int timer_taken_signal;

/* Begins the thread's sampling periods at begin_ns, a time on the clock that its samples use. */
void timer_begin_periods(struct thread *thread, uint64_t begin_ns, uint64_t period_ns)
{
    thread->ledger->period_ns = period_ns;
    thread->ledger->number = 1 + state_line_number(thread->line);
    if (session.options.clock == CLOCK_CPU)
        thread->sampling.moments = (struct moments){.period_ns = period_ns, .begin_ns = begin_ns};
    else
        moments_start(&thread->sampling.moments, begin_ns, period_ns, session.start_ns, (uint64_t)session.options.seed,
                      state_line_number(thread->line));
}

/* Returns how many periods of CPU time have passed since the last delivery, by the thread's CPU time. The
 * kernel checks CPU-time timers only at clock ticks, and does not always report how many periods it missed. */
static uint64_t timer_pass_cpu_periods(struct moments *moments)
{
    int64_t passed_ns = (int64_t)(clock_thread_cpu_ns() - moments->begin_ns), period_ns = (int64_t)moments->period_ns;
    uint64_t count = passed_ns >= 2 * period_ns ? (uint64_t)(passed_ns / period_ns) : 1;
    moments->begin_ns += count * moments->period_ns;
    return count;
}

/* Returns what a signal that has just arrived stands for. A signal may come before the period's moment if the
 * timer was changed meanwhile. It still counts as the sample of that period. */
struct delivery timer_take_delivery(struct thread *thread, const siginfo_t *info, const struct clock_reading *clocks)
{
    struct delivery delivery = {
        .count = 1, .clocks = *clocks, .due_ns = clocks->ns, .census_ns = clocks->ns, .until_ns = clocks->ns};
    uint64_t weight_ns = thread->sampling.moments.period_ns;
    if (unlikely(info->si_code != SI_TIMER)) {
        /* An overflow of a counter stands for one sample, because the handler restarts the counter. */
    } else if (session.options.clock == CLOCK_CPU) {
        delivery.count = timer_pass_cpu_periods(&thread->sampling.moments);
        weight_ns *= delivery.count;
    } else {
        uint64_t first_ns = thread->sampling.moments.next_ns, last_ns;
        delivery.count = moments_pass(&thread->sampling.moments, clocks->ns, &last_ns, &weight_ns);
        delivery.until_ns = thread->sampling.moments.begin_ns;
        if (likely(first_ns <= clocks->ns)) {
            delivery.due_ns = first_ns;
            delivery.census_ns = last_ns;
        }
    }
    INVARIANT(delivery.due_ns <= delivery.census_ns);
    delivery.p = (double)weight_ns;
    thread->ledger->delivered += delivery.count;
    thread->ledger->last_ns = clocks->ns;
    return delivery;
}

/* Disarms the thread's timer if the program has taken its signal. The thread that disarms all timers in this
 * case may have passed this timer before it was set (G1). */
void timer_heed_taken_signal(const struct thread *thread)
{
    if (likely(load_seq_cst(&timer_taken_signal) != thread->sampling.signal))
        return;
    os_timer_set(thread->sampling.timer, false, 0, 0);
    if (thread->sleep.cpu_word)
        os_timer_set(thread->sleep.cpu_timer, true, 0, 0);
}

/* Sets the timer for the next two moments with one system call (timer_settime): it expires at the first
 * moment, and after an interval that ends at the second. The interval must not be 0: if the program consumes
 * the first signal (sigtimedwait), the timer must expire again. If the moments are less than half a period
 * apart, the interval is a whole period, because a program that consumes every signal would otherwise get too
 * many. */
static void timer_set(struct thread *thread)
{
    struct moments *moments = &thread->sampling.moments;
    uint64_t interval_ns = moments_second(moments) - moments->next_ns;
    bool apart = interval_ns >= moments->period_ns / 2;
    thread->sampling.second_ns = apart ? moments->next_ns + interval_ns : 0;
    os_timer_set(thread->sampling.timer, false, moments->next_ns, apart ? interval_ns : moments->period_ns);
    timer_heed_taken_signal(thread);
}

/* Lengthens the thread's period, from the first period without a sample on. Makes one system call
 * (timer_settime). */
static void timer_slow_down(struct thread *thread)
{
    timer_begin_periods(thread, thread->sampling.moments.begin_ns + thread->sampling.moments.missed_ns,
                        crowd_period_ns());
    if (thread->sampling.drawn)
        timer_set(thread);
    else if (session.options.clock == CLOCK_CPU)
        os_timer_set(thread->sampling.timer, true, 0, thread->sampling.moments.period_ns);
}

/* Goes on with a sample in each period, for a thread that has been a sleeper. Makes two system calls
 * (timer_settime). */
void timer_resume(struct thread *thread)
{
    timer_begin_periods(thread, thread->sleep.begin_ns, crowd_period_ns());
    store_relaxed(&thread->line->counts_waiters, true);
    os_timer_set(thread->sleep.cpu_timer, true, 0, 0);
    timer_set(thread);
}

int64_t timer_renew(struct thread *thread)
{
    int64_t ahead_ns = moments_renew(&thread->sampling.moments, clock_now_ns());
    timer_set(thread);
    return ahead_ns;
}

/* Prepares the next sample of a sleeper, or of a thread that `was` one. Returns false for other threads. Leaves the timers
 * to the thread if it is about to set them itself (sampler_wake). */
static bool timer_prepare_sleeper(struct thread *thread, bool was, const struct clock_reading *clocks)
{
    if (was && load_relaxed(&thread->inside.tool))
        return true;
    bool is = sleeper_is(thread) || (!was && sleeper_begin(thread, clocks->ns, thread->sampling.signal));
    if (is) {
        store_relaxed(&thread->line->counts_waiters, false); /* its samples are too far apart */
        sleeper_set_timers(thread, clocks->ns);
        timer_heed_taken_signal(thread);
    } else if (was) {
        timer_resume(thread);
    }
    return is || was;
}

/* Prepares the next sample, at the handler's end. */
void timer_prepare_next(struct thread *thread, bool was_sleeper, const struct clock_reading *clocks)
{
    bool is_set = thread->sampling.second_ns == thread->sampling.moments.next_ns;
    core_leave(&thread->core, clocks->ns);
    thread->sampling.second_ns = 0;
    if (unlikely(was_sleeper || thread->sleep.found) && timer_prepare_sleeper(thread, was_sleeper, clocks))
        is_set = true;
    else if (unlikely(thread->sampling.moments.period_ns < crowd_period_ns()))
        timer_slow_down(thread);
    else if (!is_set && thread->sampling.drawn)
        timer_set(thread);
    notes_due(thread->line, clocks, thread->sampling.drawn ? thread->sampling.moments.next_ns : 0);
    /* The thread then notes its next wait, so that no other thread seems to wait for time that this one lost
     * before that wait. */
    thread->look_ticks = 0;
}
