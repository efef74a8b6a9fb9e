/* The rules of this house: everything reachable from handle_sample() is async-signal-safe. No locks, malloc,
 * stdio, lazily allocated TLS; system calls only where a comment says which and why; bounded time.
 * scripts/check-handler.py compares the undefined symbols of these objects with an allowlist. */
#include "ompt_tool/sampler.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/os.h"
#include "cct/arena.h"
#include "ompt_tool/context/capture.h"
#include "ompt_tool/context/probe_stack.h"
#include "ompt_tool/counters/counters.h"
#include "ompt_tool/counters/counters_plan.h"
#include "ompt_tool/fault.h"
#include "ompt_tool/restart/bystander.h"
#include "ompt_tool/sample.h"
#include "ompt_tool/sample_signal.h"
#include "ompt_tool/session/session.h"

#define SLOW_SAMPLES 8
#define SILENCE_NS   100000000ull /* between two looks at whom the signal comes to */
#define RATE_PER_CORE                                                                                        \
    4000 /* samples a second, of all threads; more only if no core has more than one thread */

static int sample_signal; /* 0: none was left */
static uint32_t moving;   /* serialises changes of it */
static uint64_t least_period_ns; /* every thread's, now */

int sampler_signal(void)
{
    return load_relaxed(&sample_signal);
}

uint64_t sampler_signals(void)
{
    int signal = sampler_signal();
    return signal ? 1ull << (signal - 1) : 0;
}

/* How many expirations this delivery stands for. CPU timers are checked at the system's ticks and their
 * overruns are not always told: there the thread's CPU time itself says how many periods have passed. */
static uint64_t expirations_of(const struct thread *thread, const siginfo_t *info)
{
    if (unlikely(info->si_code != SI_TIMER))
        return 1; /* an overflow: the next one comes when this one has been handled */
    if (session.options.clock == CLOCK_WALL)
        return 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
    uint64_t passed = (clock_thread_cpu_ns() - thread->cpu_origin_ns) / thread->period_ns;
    return passed > thread->expirations ? passed - thread->expirations : 1;
}

static struct delivery take_delivery(struct thread *thread, const siginfo_t *info,
                                     const struct clock_reading *clocks)
{
    struct delivery delivery;
    uint64_t now_ns = clocks->ns;
    delivery.clocks = *clocks;
    delivery.count = expirations_of(thread, info);
    delivery.p = (double)delivery.count * (double)thread->period_ns;
    delivery.due_ns = thread->timer_origin_ns + (thread->expirations + 1) * thread->period_ns;
    if (session.options.clock == CLOCK_CPU || delivery.due_ns > now_ns || info->si_code != SI_TIMER)
        delivery.due_ns = now_ns;
    delivery.census_ns = delivery.due_ns + (delivery.count - 1) * thread->period_ns;
    if (delivery.census_ns > now_ns)
        delivery.census_ns = now_ns;
    thread->expirations += delivery.count;
    thread->ledger->delivered += delivery.count;
    thread->ledger->last_ns = now_ns;
    return delivery;
}

/* A handler that takes longer than the period would be entered again before the program's next instruction,
 * for ever. After some such samples in a row as many are dropped. One slow sample alone says nothing: the
 * thread may have lost its core in it. */
static void note_duration(struct thread *thread, const struct clock_reading *begin)
{
    if (likely(clock_passed_ns(begin) < thread->period_ns)) {
        thread->slow_samples = 0;
    } else if (++thread->slow_samples == SLOW_SAMPLES) {
        thread->slow_samples = 0;
        thread->skip_samples = SLOW_SAMPLES;
    }
}

/* Measurement has not ended, and does not end before this returns. */
static void take_sample(struct thread *thread, const siginfo_t *info, ucontext_t *context,
                        const struct clock_reading *clocks)
{
    struct delivery delivery = take_delivery(thread, info, clocks);
    counters_take(thread);
    if (unlikely(load_relaxed(&session.paused))) {
        sample_drop(thread, &delivery, PROFILE_DROP_PAUSED);
        return;
    }
    if (unlikely(thread->probes && load_relaxed(&thread->probes->count)))
        thread->ledger->probed_sampled += delivery.p;
    if (load_relaxed(&thread->in_tool)) {
        sample_drop(thread, &delivery, PROFILE_DROP_IN_TOOL);
        return;
    }
    if (unlikely(thread->skip_samples)) {
        thread->skip_samples--;
        sample_drop(thread, &delivery, PROFILE_DROP_OVERLOAD);
        return;
    }
    fault_record_sample(thread, &delivery, context);
    session_record_modules(); /* compares two numbers, unless the walk met a library that is new */
    note_duration(thread, clocks);
}

static void record(struct thread *thread, const siginfo_t *info, ucontext_t *context,
                   const struct clock_reading *clocks)
{
    store_seq_cst(&thread->in_handler,
                  1); /* pairs with finish: it waits for us, or we see that it has begun, and it counts this sample */
    if (!load_seq_cst(&session.stopping))
        take_sample(thread, info, context, clocks);
    store_release(&thread->in_handler, 0);
}

/* From its last expiration on the timer's period is the longer one. One system call (timer_settime). */
static void slow_down(struct thread *thread)
{
    uint64_t passed_ns = thread->expirations * thread->period_ns;
    thread->timer_origin_ns += passed_ns;
    thread->cpu_origin_ns += passed_ns;
    thread->expirations = 0;
    thread->period_ns = load_relaxed(&least_period_ns);
    thread->ledger->period_ns = thread->period_ns;
    os_timer_set(thread->timer, session.options.clock == CLOCK_CPU,
                 thread->timer_origin_ns + thread->period_ns, thread->period_ns);
}

static bool is_worker(const struct thread *thread)
{
    return thread->ledger->kind == PROFILE_THREAD_WORKER;
}

/* A worker that idles is a bystander, but not where restart_leave() goes on with a context of its own. One that works
 * is to be one from the begin of its next wait on (sampler_look). */
static void stand_by(struct thread *thread, bool idle, ucontext_t *context, uint64_t now_ns)
{
    if (idle) {
        if (is_worker(thread) && !thread->restart.resume && !thread->restart.waiting)
            bystander_begin(&thread->stands_by, context, now_ns);
        thread->hit_idle = thread->idle.pending || thread->stands_by.added;
        return;
    }
    if (is_worker(thread))
        thread->look_ticks = 0;
    if (unlikely(thread->stands_by.added)) /* a sample hit it on its way out of a wait */
        bystander_wakes(&thread->stands_by, context);
}

static void handle_sample(int signal, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    int saved_errno = errno;
    (void)signal;
    struct thread *thread = thread_self;
    if (!thread) {
        errno = saved_errno;
        return; /* a late delivery to a thread that has ended its measurement */
    }
    struct clock_reading clocks = clock_read(); /* the only one of this sample */
    restart_enter(&thread->restart, context);
    bool overflowed = counters_overflowed(thread, info);
    if (info->si_code == SI_TIMER || overflowed) {
        record(thread, info, context, &clocks);
        if (unlikely(thread->period_ns < load_relaxed(&least_period_ns)))
            slow_down(thread);
    }
    if (restart_interrupted_call(&thread->restart, context, clocks.ns) == RESTART_UNKNOWN)
        thread->ledger->unrestored_calls++;
    bool idle = load_relaxed(&thread->line->state) == STATE_IDLE;
    stand_by(thread, idle, context, clocks.ns);
    if (idle && thread->idle.pending)
        account_idle_resume(&thread->idle, thread->line, clocks.ticks);
    else
        restart_note_sample(&thread->restart);
    if (unlikely(overflowed))
        counters_overflow_rearm(thread);
    errno = saved_errno;
    restart_leave(&thread->restart, context);
}

bool sampler_init(void)
{
    int wanted = session.options.signal;
    char wanted_text[21], used_text[21];
    sample_signal = sample_signal_install(handle_sample, wanted);
    if (wanted && sample_signal && sample_signal != wanted)
        log_line("BLAME_SIGNAL=", log_decimal((uint64_t)wanted, wanted_text), ": the program uses this signal; using ",
                 log_decimal((uint64_t)sample_signal, used_text), NULL);
    if (sample_signal)
        unwind_note_trampoline(sample_signal);
    return sample_signal != 0;
}

/* Every sample of a thread that waits for a core, or sleeps, costs a switch to it: with hundreds of threads a
 * core the program would not get on. */
void sampler_crowd(uint32_t threads)
{
    uint64_t rate = NS_PER_S / session.period_ns, cores = arena_header()->cores;
    uint64_t most = cores * (rate > RATE_PER_CORE ? rate : RATE_PER_CORE), period_ns = session.period_ns;
    while (threads * rate > most) {
        rate = (rate + 1) / 2;
        period_ns *= 2;
    }
    uint64_t least_ns = load_relaxed(&least_period_ns);
    while (period_ns > least_ns && !compare_exchange(&least_period_ns, &least_ns, period_ns))
        ;
}

static void note_no_timer(int error)
{
    struct profile_header *header = arena_header();
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_SIGPENDING, &limit);
    header->timer_limit = limit.rlim_cur;
    header->timer_error = (uint32_t)error;
}

void sampler_start(struct thread *thread)
{
    /* Phases as far apart as they can be (multiples of the golden section): a thread that stands still for
     * its sample must not be what the next thread's sample sees, period after period. */
    uint64_t from_ns = thread->timer_origin_ns, period_ns = load_relaxed(&least_period_ns);
    uint64_t phase_ns = (hash_number(state_line_number(thread->line)) >> 32) * period_ns >> 32;
    uint64_t since_ns = from_ns - session.start_ns;
    int signal = thread->signal = load_relaxed(&sample_signal);
    thread->expirations = 0;
    thread->period_ns = thread->ledger->period_ns = period_ns;
    if (unlikely(!signal))
        return;
    if (unlikely(counters_plan_sample_period_ns())) {
        thread->sampled = true; /* from its first sample on it is armed again */
        thread->sampled = counters_overflow_start(thread, signal);
        thread->ledger->timer_failed = !thread->sampled;
        return;
    }
    thread->cpu_origin_ns = clock_thread_cpu_ns();
    thread->timer_origin_ns = session.start_ns + since_ns / period_ns * period_ns + phase_ns;
    if (thread->timer_origin_ns > from_ns)
        thread->timer_origin_ns -= period_ns;
    thread->sampled = os_timer_start(&thread->timer, signal, session.options.clock == CLOCK_CPU,
                                     thread->timer_origin_ns + period_ns, period_ns);
    thread->ledger->timer_failed = !thread->sampled;
    if (!thread->sampled)
        note_no_timer(errno);
}

/* Since the last sample came; 0 where nobody knows: for a counter's overflows, and another thread's CPU time. */
static uint64_t silent_ns(const struct thread *thread, uint64_t now_ns)
{
    if (counters_plan_sample_period_ns() || (session.options.clock == CLOCK_CPU && thread != thread_self))
        return 0;
    uint64_t passed_ns = session.options.clock == CLOCK_CPU ? clock_thread_cpu_ns() - thread->cpu_origin_ns
                                                            : now_ns - thread->timer_origin_ns;
    uint64_t seen_ns = thread->expirations * thread->period_ns;
    return (int64_t)(passed_ns - seen_ns) > 0 ? passed_ns - seen_ns : 0;
}

static void stop(struct thread *thread)
{
    thread->sampled = false;
    if (counters_plan_sample_period_ns())
        counters_overflow_stop(thread);
    else
        os_timer_stop(thread->timer);
}

/* Long silence is the program's doing if it has taken the signal or blocks it; a thread that gets no core, or has a CPU
 * clock that stands still, is as silent. */
static bool is_silenced(const struct thread *thread)
{
    int signal = load_relaxed(&sample_signal);
    if (!signal || thread->signal != signal)
        return true;
    uint64_t silence_ns = silent_ns(thread, clock_now_ns());
    return thread->sampled && silence_ns > SILENCE_NS && silence_ns > 4 * thread->period_ns &&
           (!sample_signal_comes_to(handle_sample, signal) ||
            sample_signal_is_blocked(thread->ledger->tid, signal));
}

void sampler_stop(struct thread *thread)
{
    thread->unheard = thread->active && is_silenced(thread);
    if (thread->unheard)
        thread->ledger->unsignalled_ns += (double)silent_ns(thread, clock_now_ns());
    if (thread->sampled)
        stop(thread);
}

void sampler_count_undelivered(struct thread *thread, uint64_t end_ns)
{
    struct profile_thread *ledger = thread->ledger;
    bool at_ticks = session.options.clock == CLOCK_CPU; /* such a timer has always a tick's samples due */
    if (at_ticks || thread->unheard || ledger->timer_failed || !thread->period_ns)
        return;
    uint64_t count = silent_ns(thread, end_ns) / thread->period_ns;
    ledger->delivered += count;
    ledger->dropped[PROFILE_DROP_STOPPING] += count;
    ledger->dropped_ns += (double)(count * thread->period_ns);
}

/* Until its owner comes by, no other signal of it can reach the program. */
static void silence(struct thread *thread)
{
    if (!load_relaxed(&thread->sampled))
        return;
    if (counters_plan_sample_period_ns())
        counters_overflow_stop(thread);
    else
        os_timer_set(thread->timer, session.options.clock == CLOCK_CPU, 0, 0);
}

static void take_another_signal(int taken)
{
    char taken_text[21], text[21];
    os_lock(&moving);
    if (load_relaxed(&sample_signal) == taken) {
        for (struct thread *thread = thread_all(); thread; thread = thread->next_all)
            silence(thread);
        int signal = sample_signal_install(handle_sample, 0);
        struct profile_header *header = arena_header();
        header->signals_taken++;
        header->sample_signal = (uint32_t)signal;
        log_line("the program has taken signal ", log_decimal((uint64_t)taken, taken_text),
                 signal ? ", by which samples came: they come by " : ", and all others are in use: no more samples",
                 signal ? log_decimal((uint64_t)signal, text) : "",
                 signal ? " now; BLAME_SIGNAL chooses one from the start" : "", NULL);
        store_relaxed(&sample_signal, signal);
    }
    os_unlock(&moving);
}

void sampler_look(struct thread *thread)
{
    if (is_worker(thread) && load_relaxed(&thread->line->state) == STATE_IDLE) {
        bystander_now(&thread->stands_by);
        thread->hit_idle = true;
    }
    struct clock_reading now = clock_read();
    thread->look_ticks = now.ticks + (uint64_t)((double)SILENCE_NS / now.ns_per_tick);
    int signal = load_relaxed(&sample_signal);
    if (thread->signal == signal && signal && !sample_signal_comes_to(handle_sample, signal))
        take_another_signal(signal);
    if (thread->signal == load_relaxed(&sample_signal))
        return;
    uint64_t now_ns = clock_now_ns();
    thread->ledger->unsignalled_ns += (double)silent_ns(thread, now_ns);
    if (thread->sampled)
        stop(thread);
    thread->restart.own_signals = sampler_signals();
    thread->timer_origin_ns = now_ns;
    sampler_start(thread);
}

static __thread int blocked_for_fork; /* 0: the program itself blocks the signal, or there is none */

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
    os_unlock(&moving);
}
