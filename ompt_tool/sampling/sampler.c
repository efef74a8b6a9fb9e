/* The rules of the signal handler. Everything that handle_sample() reaches is async-signal-safe: no locks, no
 * malloc, no stdio, no thread-local storage that is allocated on first use. It takes bounded time. It makes
 * system calls only where a comment names them and says why. scripts/check-handler.py compares the functions
 * that these files call with an allowlist. */
#include "ompt_tool/sampling/sampler.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/float_state.h"
#include "base/log.h"
#include "base/os.h"
#include "blame/notes.h"
#include "cct/arena.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/probe_stack.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/counters/counters_plan.h"
#include "ompt_tool/sampling/fault.h"
#include "ompt_tool/locks/diversion.h"
#include "ompt_tool/restart/bystander.h"
#include "ompt_tool/sampling/sample.h"
#include "ompt_tool/sampling/sample_signal.h"
#include "ompt_tool/session/core.h"
#include "ompt_tool/session/session.h"
#include "ompt_tool/sampling/shared_timer.h"
#include "ompt_tool/sampling/timer.h"
#include "ompt_tool/sampling/sleeper.h"

#define SLOW_SAMPLES 8
#define SILENCE_NS   100000000ull /* ns between two checks that the signal still reaches the handler */

static int sample_signal; /* number of the signal that samples use; 0: none is left */
static uint32_t moving;   /* lock that is held while sample_signal changes */

int sampler_signal(void)
{
    return load_relaxed(&sample_signal);
}

uint64_t sampler_signals(void)
{
    int signal = sampler_signal();
    return signal ? 1ull << (signal - 1) : 0;
}

/* Notes how long the handler took. A handler that takes longer than a period would run again before the
 * program's next instruction, and the program would stand still. After SLOW_SAMPLES slow samples in a row,
 * the same number of samples is therefore dropped. A single slow sample proves nothing, since the thread may
 * have lost its core. */
static void sampler_note_duration(struct thread *thread, const struct clock_reading *begin)
{
    if (likely(clock_passed_ns(begin) < thread->sampling.moments.period_ns)) {
        thread->sampling.slow = 0;
    } else if (++thread->sampling.slow == SLOW_SAMPLES) {
        thread->sampling.slow = 0;
        thread->sampling.skip = SLOW_SAMPLES;
    }
}

static void sampler_pass_over(struct thread *thread, const struct delivery *delivery, enum profile_drop cause)
{
    core_pass_over(&thread->core, thread->ledger);
    sample_drop(thread, delivery, cause);
}

/* Records a signal of a sleeper. A signal that comes while the thread is inside the tool is ignored; the next one
 * stands for its time, too. */
static void sampler_take_sleeper(struct thread *thread, const siginfo_t *info, const ucontext_t *context,
                                 const struct clock_reading *clocks)
{
    bool by_cpu_timer = info->si_value.sival_int;
    if (load_relaxed(&thread->inside.tool))
        return;
    struct delivery delivery = sleeper_delivery(thread, by_cpu_timer, clocks);
    counters_take(thread);
    fault_record_sleeper(thread, &delivery, by_cpu_timer, context);
    sample_compare(thread);
    session_record_modules();
}

/* Takes one sample. The measurement cannot end before this returns. */
static void sampler_take_sample(struct thread *thread, const siginfo_t *info, ucontext_t *context,
                                const struct clock_reading *clocks)
{
    if (unlikely(sleeper_is(thread))) {
        sampler_take_sleeper(thread, info, context, clocks);
        return;
    }
    struct delivery delivery = timer_take_delivery(thread, info, clocks);
    counters_take(thread);
    if (unlikely(load_relaxed(&session.paused))) {
        sampler_pass_over(thread, &delivery, PROFILE_DROP_PAUSED);
        return;
    }
    if (unlikely(thread->probes && load_relaxed(&thread->probes->count)))
        thread->ledger->probed_sampled += delivery.p;
    if (load_relaxed(&thread->inside.tool)) {
        sampler_pass_over(thread, &delivery, PROFILE_DROP_IN_TOOL);
        return;
    }
    if (unlikely(thread->sampling.skip)) {
        thread->sampling.skip--;
        sampler_pass_over(thread, &delivery, PROFILE_DROP_OVERLOAD);
        return;
    }
    fault_record_sample(thread, &delivery, context);
    sample_compare(thread);
    diversion_heed_threads();
    session_record_modules(); /* compares only two numbers, unless the walk has found a new library */
    sampler_note_duration(thread, clocks);
}

/* Records the delivery; returns false if the measurement has ended. */
static bool sampler_record_delivery(struct thread *thread, const siginfo_t *info, ucontext_t *context,
                                    const struct clock_reading *clocks)
{
    /* Pairs with finish_measuring(), which either waits for this handler, or sets `stopping` early enough for
     * it to be seen here. In the second case finish_measuring() counts the sample. */
    store_seq_cst(&thread->inside.handler, 1);
    bool goes_on = !load_seq_cst(&session.stopping);
    if (goes_on)
        sampler_take_sample(thread, info, context, clocks);
    store_release(&thread->inside.handler, 0);
    return goes_on;
}

static bool sampler_is_worker(const struct thread *thread)
{
    return thread->ledger->kind == PROFILE_THREAD_WORKER;
}

/* Makes an idle worker a bystander, unless restart_leave() will continue elsewhere. A working thread becomes
 * a bystander at its next wait (sampler_look). */
static void sampler_stand_by(struct thread *thread, bool idle, ucontext_t *context, uint64_t now_ns)
{
    if (idle) {
        if (sampler_is_worker(thread) && !thread->restart.resume && !thread->restart.waiting)
            bystander_begin(&thread->stands_by, context, now_ns);
        if (thread->idle.pending || thread->stands_by.added)
            thread->unusual.settles = true;
        thread->unusual.notes = true; /* Has the wait noted, because it may be a long one. */
        return;
    }
    if (sampler_is_worker(thread))
        thread->sampling.heard_ticks = 0;
    if (unlikely(thread->stands_by.added)) /* The thread is no longer idle: it was about to leave its wait. */
        bystander_wakes(&thread->stands_by, context);
}

void (*sampler_on_stranger)(const siginfo_t *info, ucontext_t *context);

#define STRANGER_STACK_BYTES (256u << 10)

#ifdef __x86_64__
bool sampler_make_stranger_stack(void)
{
    static char *stack; /* a forked child inherits it */
    if (!stack)
        stack = os_map(STRANGER_STACK_BYTES);
    sample_entry_stack = stack ? stack + STRANGER_STACK_BYTES : NULL;
    return stack != NULL;
}

void sampler_drop_stranger_stack(void)
{
    sample_entry_stack = NULL;
}
#else
/* The handler runs on the interrupted stack (sample_signal.h). */
bool sampler_make_stranger_stack(void)
{
    return true;
}

void sampler_drop_stranger_stack(void)
{
}
#endif

/* Returns true if the signal is one of those that the thread waits for. The CPU timer of a sleeper may expire just
 * before the thread is none any more. */
static bool sampler_is_sample(const struct thread *thread, const siginfo_t *info, bool overflowed)
{
    if (likely(info->si_code == SI_TIMER))
        return likely(!info->si_value.sival_int) || !thread->sampling.drawn || sleeper_is(thread);
    return overflowed;
}

static void handle_sample(int signal, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    int saved_errno = errno;
    (void)signal;
    struct thread *thread = thread_self;
    if (unlikely(!thread)) {
        /* The thread is not measured yet, or its measurement has ended. */
        void (*on_stranger)(const siginfo_t *, ucontext_t *) = load_relaxed(&sampler_on_stranger);
        if (on_stranger)
            on_stranger(info, context);
        return;
    }
    struct clock_reading clocks = clock_read(); /* the time of the sample */
    restart_enter(&thread->restart, context);
    bool overflowed = counters_overflowed(thread, info), was_sleeper = sleeper_is(thread);
    if (sampler_is_sample(thread, info, overflowed) && sampler_record_delivery(thread, info, context, &clocks))
        timer_prepare_next(thread, was_sleeper, &clocks);
    if (restart_interrupted_call(&thread->restart, context, clocks.ns) == RESTART_UNKNOWN)
        thread->ledger->unrestored_calls++;
    bool idle = load_relaxed(&thread->line->state) == STATE_IDLE;
    sampler_stand_by(thread, idle, context, clocks.ns);
    if (idle && state_is_hidden(thread->line))
        account_idle_resume(&thread->idle, thread->line);
    else
        restart_note_sample(&thread->restart);
    if (unlikely(overflowed))
        counters_overflow_rearm(thread);
    errno = saved_errno;
    restart_leave(&thread->restart, context);
}

/* Installs the handler. If samples are taken at a counter's overflows, the default signal is SIGSTKFLT
 * instead of a real-time signal. A user may have a limited number of pending real-time signals
 * (RLIMIT_SIGPENDING). At that limit, the kernel sends SIGIO in place of an overflow's real-time signal, and
 * SIGIO ends the program. */
bool sampler_init(void)
{
    int wanted = session.options.signal;
    char wanted_text[21], used_text[21];
    sample_signal =
        sample_signal_install(handle_sample, wanted || !counters_plan_sample_period_ns() ? wanted : SIGSTKFLT);
    if (wanted && sample_signal && sample_signal != wanted)
        log_line("BLAME_SIGNAL=", log_decimal((uint64_t)wanted, wanted_text),
                 ": the program uses this signal; using "
                 "signal ",
                 log_decimal((uint64_t)sample_signal, used_text), NULL);
    sleeper_init();
    if (sample_signal)
        unwind_note_trampoline(sample_signal);
    return sample_signal != 0;
}

static void sampler_note_no_timer(int error)
{
    struct profile_header *header = arena_header();
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_SIGPENDING, &limit);
    header->timer_limit = limit.rlim_cur;
    header->timer_error = (uint32_t)error;
}

static void sampler_start_timer(struct thread *thread)
{
    uint64_t period_ns = crowd_period_ns();
    int signal = thread->sampling.signal = load_relaxed(&sample_signal);
    timer_begin_periods(thread, session.options.clock == CLOCK_CPU ? clock_thread_cpu_ns() : thread->sampling.from_ns,
                        period_ns);
    if (unlikely(!signal))
        return;
    if (unlikely(counters_plan_sample_period_ns())) {
        /* Set before the counter starts: the first sample restarts the counter only if this is set. */
        thread->sampling.word = true;
        thread->sampling.word = counters_overflow_start(thread, signal);
        thread->ledger->timer_failed = !thread->sampling.word;
        return;
    }
    bool cpu_clock = session.options.clock == CLOCK_CPU;
    thread->sampling.second_ns = 0;
    thread->sleep = (struct thread_sleep){0};
    /* Set before the timer starts: the first signal may come before os_timer_start() returns. */
    thread->sampling.drawn = !cpu_clock;
    bool started =
        os_timer_start(&thread->sampling.timer, signal, cpu_clock, thread->sampling.moments.next_ns, period_ns);
    store_seq_cst(&thread->sampling.word, started ? shared_timer_word(thread->sampling.timer) : 0);
    thread->ledger->timer_failed = !started;
    store_relaxed(&thread->line->counts_waiters, started && !cpu_clock);
    if (started) {
        timer_heed_taken_signal(thread);
    } else {
        thread->sampling.drawn = false;
        sampler_note_no_timer(errno);
    }
}

static void sampler_announce_due(struct thread *thread)
{
    struct clock_reading clocks = clock_read();
    notes_due(thread->line, &clocks, thread->sampling.drawn ? thread->sampling.moments.next_ns : 0);
}

/* Returns the time since the last sample in ns. Returns 0 if it is unknown: with samples at a counter's
 * overflows, and for another thread with a CPU clock. */
static uint64_t sampler_silent_ns(const struct thread *thread, uint64_t now_ns)
{
    bool cpu_clock = session.options.clock == CLOCK_CPU;
    if (counters_plan_sample_period_ns() || (cpu_clock && thread != thread_self))
        return 0;
    uint64_t begin_ns = thread->sampling.moments.begin_ns + thread->sampling.moments.missed_ns;
    if (sleeper_is(thread))
        begin_ns = thread->sleep.due_ns;
    int64_t passed_ns = (int64_t)((cpu_clock ? clock_thread_cpu_ns() : now_ns) - begin_ns);
    return passed_ns > 0 ? (uint64_t)passed_ns : 0;
}

/* Returns true if the last sample is too long ago. The cause may only be that the thread has no core. */
static bool sampler_is_silent(const struct thread *thread, uint64_t now_ns)
{
    uint64_t ns = sampler_silent_ns(thread, now_ns);
    return thread->sampling.word && ns > SILENCE_NS && ns > 4 * thread->sampling.moments.period_ns;
}

/* Returns true if the thread's timer no longer exists. Some programs delete timers that are not theirs (0, 1,
 * 2 ...), and so the tool's. Only the thread itself sets its timer to find out: another thread's timer number
 * may have been reused for a new timer. */
static bool sampler_timer_is_deleted(struct thread *thread, uint64_t now_ns)
{
    if (!thread->sampling.drawn || !sampler_is_silent(thread, now_ns))
        return false;
    bool there = thread == thread_self ? os_timer_set(thread->sampling.timer, false, thread->sampling.moments.next_ns,
                                                      thread->sampling.moments.period_ns)
                                       : os_timer_is_there(thread->sampling.timer);
    thread->sampling.second_ns = 0;
    return !there && errno == EINVAL;
}

static void sampler_note_deleted_timer(void)
{
    struct profile_header *header = arena_header();
    if (header->timer_error)
        return;
    header->timer_error = PROFILE_TIMERS_DELETED;
    log_line("the program has deleted timers of the tool (timer_delete of a timer that is not its own); samples are "
             "missing",
             NULL);
}

/* Stops the thread's timer. If the thread itself and finish_measuring() call this at the same time, only one
 * of them does the work. */
static void sampler_stop_timer(struct thread *thread)
{
    uint64_t was = exchange_seq_cst(&thread->sampling.word, 0);
    if (!was)
        return;
    shared_timer_delete(exchange_seq_cst(&thread->sleep.cpu_word, 0));
    thread->sampling.drawn = false;
    if (counters_plan_sample_period_ns())
        counters_overflow_stop(thread);
    else
        shared_timer_delete(was);
    sampler_announce_due(thread);
}

/* Returns true if samples are missing because of the program: it has taken the signal, blocks it, or has
 * deleted the timer. With a CPU clock, samples may also be missing because the thread does not run. */
static bool sampler_is_silenced(struct thread *thread, uint64_t now_ns)
{
    int signal = load_relaxed(&sample_signal);
    if (!signal || thread->sampling.signal != signal)
        return true;
    if (!sampler_is_silent(thread, now_ns))
        return false;
    if (!sample_signal_comes_to(handle_sample, signal) || sample_signal_is_blocked(thread->ledger->tid, signal))
        return true;
    bool deleted = sampler_timer_is_deleted(thread, now_ns);
    if (deleted)
        sampler_note_deleted_timer();
    return deleted;
}

void sampler_start(struct thread *thread)
{
    sampler_start_timer(thread);
    sampler_announce_due(thread);
    /* finish_measuring() may have stopped all timers just before this one was created. */
    if (unlikely(load_seq_cst(&session.stopping)))
        sampler_stop_timer(thread);
}

void sampler_stop(struct thread *thread)
{
    uint64_t now_ns = clock_now_ns();
    thread->sampling.unheard = thread->record.active && sampler_is_silenced(thread, now_ns);
    if (thread->sampling.unheard)
        thread->ledger->unsignalled_ns += (double)sampler_silent_ns(thread, now_ns);
    sampler_stop_timer(thread);
}

void sampler_count_undelivered(struct thread *thread, uint64_t end_ns)
{
    struct profile_thread *ledger = thread->ledger;
    struct moments *moments = &thread->sampling.moments;
    uint64_t last_ns, weight_ns;
    /* The kernel checks CPU-time timers only at clock ticks, so some samples are always overdue. */
    bool at_ticks = session.options.clock == CLOCK_CPU;
    if (at_ticks || thread->sampling.unheard || ledger->timer_failed || !moments->period_ns ||
        counters_plan_sample_period_ns() || moments->next_ns > end_ns)
        return;
    uint64_t count = moments_pass(moments, end_ns, &last_ns, &weight_ns);
    ledger->delivered += count;
    ledger->dropped[PROFILE_DROP_STOPPING] += count;
    ledger->dropped_ns += (double)weight_ns;
}

/* Disarms the thread's timer, so that its signal cannot reach the program before the thread's next check. */
static void sampler_disarm(struct thread *thread)
{
    shared_timer_disarm(&thread->sleep.cpu_word, true);
    if (!counters_plan_sample_period_ns())
        shared_timer_disarm(&thread->sampling.word, session.options.clock == CLOCK_CPU);
    else if (load_relaxed(&thread->sampling.word))
        counters_overflow_stop(thread);
}

static void sampler_take_another_signal(int taken)
{
    char taken_text[21], text[21];
    os_lock(&moving);
    if (load_relaxed(&sample_signal) == taken) {
        store_seq_cst(&timer_taken_signal, taken);
        for (struct thread *thread = thread_all(); thread; thread = thread->record.next_all)
            sampler_disarm(thread);
        int signal = sample_signal_install(handle_sample, 0);
        if (signal == taken) /* The program has stopped using the signal meanwhile. */
            store_seq_cst(&timer_taken_signal, 0);
        struct profile_header *header = arena_header();
        header->signals_taken++;
        header->sample_signal = (uint32_t)signal;
        log_line("the program has taken signal ", log_decimal((uint64_t)taken, taken_text),
                 signal ? ", which blame used for samples; from now on, samples use signal "
                        : ", and all other signals are in use; no more "
                          "samples are taken",
                 signal ? log_decimal((uint64_t)signal, text) : "",
                 signal ? "; BLAME_SIGNAL chooses a signal from the start" : "", NULL);
        store_relaxed(&sample_signal, signal);
    }
    os_unlock(&moving);
}

static void sampler_check_signal(struct thread *thread)
{
    if (sampler_is_worker(thread) && load_relaxed(&thread->line->state) == STATE_IDLE) {
        bystander_now(&thread->stands_by);
        thread->unusual.settles = true;
    }
    struct clock_reading now = clock_read();
    thread->sampling.heard_ticks = now.ticks + (uint64_t)((double)SILENCE_NS / now.ns_per_tick);
    int signal = load_relaxed(&sample_signal);
    if (thread->sampling.signal == signal && signal && !sample_signal_comes_to(handle_sample, signal))
        sampler_take_another_signal(signal);
    bool deleted = sampler_timer_is_deleted(thread, now.ns);
    if (!deleted && thread->sampling.signal == load_relaxed(&sample_signal))
        return;
    if (deleted)
        sampler_note_deleted_timer();
    uint64_t now_ns = clock_now_ns();
    thread->ledger->unsignalled_ns += (double)sampler_silent_ns(thread, now_ns);
    sampler_stop_timer(thread);
    thread->restart.own_signals = sampler_signals();
    thread->sampling.from_ns = now_ns;
    sampler_start(thread);
}

void sampler_settle_sleep(struct thread *thread, uint64_t end_ns)
{
    if (unlikely(sleeper_is(thread))) {
        bool unheard = thread->sampling.unheard && thread->sleep.due_ns < end_ns;
        sleeper_end(thread, unheard ? thread->sleep.due_ns : end_ns);
        thread->sampling.moments.next_ns = UINT64_MAX; /* no sample is overdue */
    }
}

/* The time since the sleep has no sample of its own. The first sample stands for it, too: it would have counted for more
 * than there was, had a tick found the thread in that time. */
void sampler_wake(struct thread *thread)
{
    struct moments *moments = &thread->sampling.moments;
    if (!thread_enter_tool(thread))
        return;
    if (sleeper_is(thread)) {
        uint64_t now_ns = clock_now_ns();
        sleeper_wake(thread);
        uint64_t begin_ns = thread->sleep.begin_ns, since_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
        thread->sleep.begin_ns = begin_ns + since_ns;
        timer_resume(thread);
        moments->missed_ns -= since_ns < moments->missed_ns ? since_ns : moments->missed_ns;
        store_release(&thread->sleep.state, SLEEP_NONE); /* a signal now finds the new periods */
        sampler_announce_due(thread);
    }
    thread_leave_tool(thread);
}

int64_t sampler_renew(struct thread *thread)
{
    if (!thread->sampling.drawn || sleeper_is(thread) || load_relaxed(&session.paused))
        return 0;
    int64_t ahead_ns = timer_renew(thread);
    sampler_announce_due(thread);
    return ahead_ns;
}

static __attribute__((noinline)) void sampler_look_now(struct thread *thread, uint64_t now_ticks)
{
    uint64_t due_ticks;
    if (unlikely(load_relaxed(&session.stopping))) { /* No further sample is due. */
        thread->look_ticks = UINT64_MAX;
        return;
    }
    if (unlikely(sleeper_is(thread)))
        sampler_wake(thread);
    thread->notes_apart = notes_choose(thread->line, now_ticks, &due_ticks);
    /* If the thread waits now, this applies to its present wait. */
    if (!thread->notes_apart || !thread->look_ticks)
        thread->unusual.notes = true;
    if (now_ticks > thread->sampling.heard_ticks) {
        int saved_errno = errno;
        sampler_check_signal(thread);
        errno = saved_errno;
    }
    uint64_t heard_ticks = load_relaxed(&thread->sampling.heard_ticks);
    thread->look_ticks = heard_ticks < due_ticks ? heard_ticks : due_ticks;
}

void sampler_look(struct thread *thread, uint64_t now_ticks)
{
    struct float_state floats = float_begin();
    sampler_look_now(thread, now_ticks);
    float_end(floats);
}

static __thread int blocked_for_fork; /* signal that sampler_fork_prepare() has blocked; 0: none */

void sampler_fork_prepare(void)
{
    os_lock(&moving);
    int signal = load_relaxed(&sample_signal);
    blocked_for_fork = signal && sample_signal_block(signal) ? signal : 0;
}

void sampler_fork_done(void)
{
    if (blocked_for_fork)
        sample_signal_unblock(blocked_for_fork);
    /* Also reached in the child of clone() or _Fork(), for which nothing was prepared. */
    blocked_for_fork = 0;
    os_unlock(&moving);
}
