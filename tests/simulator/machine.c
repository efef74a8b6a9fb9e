#include "tests/simulator/machine.h"

#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "tests/simulator/oracle.h"
#include "tests/simulator/other_ranks.h"
#include "tests/simulator/queue.h"
#include "tests/simulator/runtime.h"
#include "tests/unit/fake_clock.h"

#define LONG_NS    10000000000ull
#define HANDLER_NS 10000u

struct machine machine;

static struct {
    struct sim_thread *first, *last;
} ready;

static struct {
    char *block; /* the variables of the thread that has the baton */
    size_t bytes;
    char *fresh; /* a new thread's */
} tls;

/* The program's own thread-local variables: those of the plugin's objects, which are linked into it. */
static int find_tls(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    (void)bytes, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            tls.block = info->dlpi_tls_data;
            tls.bytes = info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the program is the first */
}

void machine_init(const struct scenario *scenario, uint64_t seed)
{
    memset(&machine, 0, sizeof(machine));
    machine.scenario = scenario;
    machine.chance = seed * 0x9e3779b97f4a7c15ull + 1;
    machine.now_ns = fake_now_ns;
    machine.shuffling = machine.chance + 1;
    machine.start_ns = machine.now_ns - random_below(&machine.chance, 100000000);
    machine.cores_free = scenario->cores;
    dl_iterate_phdr(find_tls, NULL);
    tls.fresh = malloc(tls.bytes);
    memcpy(tls.fresh, tls.block, tls.bytes);
}

struct sim_thread *machine_thread(void)
{
    struct sim_thread *thread = calloc(1, sizeof(*thread));
    if ((machine.thread_count & (machine.thread_count + 1)) == 0)
        machine.threads = realloc(machine.threads, (2 * (size_t)machine.thread_count + 2) * sizeof(thread));
    machine.threads[machine.thread_count] = thread;
    thread->number = machine.thread_count++;
    thread->chance = random_next(&machine.chance);
    thread->tls = malloc(tls.bytes);
    memcpy(thread->tls, tls.fresh, tls.bytes);
    return thread;
}

void machine_switch(struct sim_thread *thread)
{
    if (thread == machine.current)
        return;
    if (machine.current)
        memcpy(machine.current->tls, tls.block, tls.bytes);
    memcpy(tls.block, thread->tls, tls.bytes);
    machine.current = thread;
}

static void deliver(struct sim_thread *thread);

static bool has_signal(const struct sim_thread *thread)
{
    return thread->timer.arrived || thread->cpu_timer.arrived;
}

static void post_tick(struct sim_thread *thread)
{
    if (thread->cpu_timer.armed && thread->run == RUN_ON_CORE)
        queue_post(EVENT_TICK, thread, machine.now_ns - machine.now_ns % TICK_NS + TICK_NS,
                   ++thread->cpu_timer.generation);
}

void machine_set_cpu_timer(struct sim_thread *thread, uint64_t after_ns)
{
    uint64_t running_ns = thread->run == RUN_ON_CORE ? machine.now_ns - thread->since_ns : 0;
    thread->cpu_timer.armed = after_ns != 0;
    thread->cpu_timer.at_ns = thread->on_core_ns + running_ns + after_ns;
    post_tick(thread);
}

static void stop_progress(struct sim_thread *thread)
{
    uint64_t passed = machine.now_ns - thread->since_ns;
    thread->on_core_ns += passed;
    thread->need_ns -= passed < thread->need_ns ? passed : thread->need_ns;
    thread->since_ns = machine.now_ns;
    thread->done_generation++;
}

static void progress(struct sim_thread *thread)
{
    thread->behind_wait = false;
    thread->since_ns = machine.now_ns;
    queue_post(EVENT_DONE, thread, machine.now_ns + thread->need_ns, ++thread->done_generation);
}

/* What a thread does has to wait for a core, or has one. */
static void note_core(struct sim_thread *thread, bool no_core)
{
    bool ready = thread->run == RUN_READY;
    if ((thread->no_core != no_core || thread->was_ready != ready) && !thread->foreign)
        oracle_core(thread->number, no_core, ready, thread->run == RUN_ON_CORE);
    thread->no_core = no_core;
    thread->was_ready = ready;
}

/* Who is to be woken lacks a core while none is free. */
static void note_released(void)
{
    for (uint32_t i = 0; i < machine.thread_count && machine.released; i++)
        if (machine.threads[i]->released && machine.threads[i]->run == RUN_WAITS)
            note_core(machine.threads[i], machine.cores_free == 0);
}

static void set_released(struct sim_thread *thread, bool released)
{
    machine.released += (uint32_t)released - (uint32_t)thread->released;
    thread->released = released;
}

static void stop_thread(struct sim_thread *thread);

static void begin_on_core(struct sim_thread *thread)
{
    machine.cores_free--;
    thread->run = RUN_ON_CORE;
    thread->no_core_ns += machine.now_ns - thread->ready_ns;
    if (!thread->woken && !thread->released)
        thread->woken_ns += machine.now_ns - thread->ready_ns;
    note_core(thread, false);
    note_released();
    thread->turns++;
    thread->turn_ns = thread->since_ns = machine.now_ns;
    if (machine.thread_count > machine.scenario->cores)
        queue_post(EVENT_SLICE, thread, machine.now_ns + machine.scenario->slice_ns, ++thread->slice_generation);
    thread->asleep = thread->asleep && !thread->woken;
    post_tick(thread);
    if (machine.stopped && !thread->foreign)
        stop_thread(thread);
    else if (has_signal(thread))
        deliver(thread);
    else
        progress(thread);
}

static void make_ready(struct sim_thread *thread)
{
    thread->run = RUN_READY;
    thread->ready_ns = machine.now_ns;
    if (machine.cores_free) {
        begin_on_core(thread);
        return;
    }
    note_core(thread, thread->woken || thread->released);
    thread->next_ready = NULL;
    if (ready.first)
        ready.last->next_ready = thread;
    else
        ready.first = thread;
    ready.last = thread;
}

/* Returns who gets the core that is free; NULL: nobody wants it. */
static struct sim_thread *take_ready(void)
{
    struct sim_thread *before = NULL, *taken = ready.first, *at = ready.first;
    for (uint64_t number = 1; machine.scenario->any_order && at && at->next_ready; at = at->next_ready)
        if (random_below(&machine.chance, ++number) == 0) {
            before = at;
            taken = at->next_ready;
        }
    if (!taken)
        return NULL;
    *(before ? &before->next_ready : &ready.first) = taken->next_ready;
    if (ready.last == taken)
        ready.last = before;
    return taken;
}

static void leave_core(struct sim_thread *thread, enum run_state run)
{
    stop_progress(thread);
    thread->run = run;
    thread->sleeps += run == RUN_WAITS || run == RUN_STOPPED;
    thread->preemptions += run == RUN_READY;
    thread->behind_wait = thread->behind_wait || run == RUN_WAITS;
    thread->slice_generation++;
    machine.cores_free++;
    struct sim_thread *next = take_ready();
    if (next)
        begin_on_core(next);
    else
        note_released();
}

void machine_busy(uint64_t ns)
{
    struct sim_thread *thread = machine.current;
    thread->need_ns = ns;
    thread->woken = true;
    if (thread->run == RUN_ON_CORE)
        progress(thread);
    else
        make_ready(thread);
}

void machine_wait(void)
{
    struct sim_thread *thread = machine.current;
    thread->woken = false;
    thread->need_ns = 0;
    if (thread->run == RUN_ON_CORE)
        leave_core(thread, RUN_WAITS);
    thread->run = RUN_WAITS;
    machine_switch(thread); /* who got its core may have had its sample at once */
}

void machine_wake(struct sim_thread *thread, uint64_t after_ns)
{
    thread->limit_ns = after_ns;
    thread->by_timer = thread == machine.current;
    queue_post(EVENT_WAKE, thread, machine.now_ns + after_ns, 0);
}

void machine_release(struct sim_thread *thread)
{
    if (thread->woken)
        return;
    set_released(thread, true);
    if (thread->run == RUN_READY) {
        thread->woken_ns += machine.now_ns - thread->ready_ns;
        note_core(thread, true);
    }
    note_released();
}

void machine_end_thread(void)
{
    struct sim_thread *thread = machine.current;
    if (thread->run == RUN_ON_CORE)
        leave_core(thread, RUN_NOWHERE); /* who gets the core may have its sample at once */
    thread->run = RUN_NOWHERE;
    machine_switch(thread);
}

/* What waited for it may have come while it had a core for its signal. A core's timers that are late come one after the other. */
static void wake(struct sim_thread *thread)
{
    bool waits = thread->run == RUN_WAITS;
    if (thread->woken || thread->run == RUN_NOWHERE)
        return;
    if (waits && thread->by_timer && thread->timer.arrives_ns > machine.now_ns) {
        queue_post(EVENT_WAKE, thread, thread->timer.arrives_ns, 0);
        return;
    }
    thread->woken = true;
    if (thread->run == RUN_READY && !thread->released)
        thread->woken_ns += machine.now_ns - thread->ready_ns;
    set_released(thread, false);
    if (thread->run == RUN_READY)
        note_core(thread, true);
    if (waits)
        make_ready(thread);
    else if (thread->run == RUN_ON_CORE && !thread->stands_still)
        progress(thread);
}

static void arrive(struct sim_thread *thread)
{
    if (!thread->timer.waiting)
        return;
    thread->timer.arrived = true;
    if (thread->run == RUN_ON_CORE && !thread->stands_still)
        deliver(thread);
    thread->asleep = thread->run == RUN_WAITS || (thread->run == RUN_STOPPED && !thread->woken);
    if (thread->run == RUN_WAITS)
        make_ready(thread);
}

static void expire(struct sim_thread *thread, uint32_t generation)
{
    struct timer *timer = &thread->timer;
    if (!timer->armed || timer->generation != generation)
        return;
    if (!timer->waiting)
        timer->first_ns = timer->due_ns;
    timer->waiting++;
    timer->due_ns += timer->period_ns;
    queue_post(EVENT_TIMER, thread, timer->due_ns > machine.now_ns ? timer->due_ns : machine.now_ns, timer->generation);
    if (timer->waiting > 1)
        return;
    timer->arrives_ns = machine.now_ns;
    if (machine.scenario->on_way.mean_ns) {
        timer->arrives_ns += random_duration(&thread->chance, &machine.scenario->on_way);
        queue_post(EVENT_ARRIVE, thread, timer->arrives_ns, 0);
    } else {
        arrive(thread);
    }
}

/* A clock tick comes while the thread has a core. */
static void tick(struct sim_thread *thread, uint32_t generation)
{
    struct cpu_timer *timer = &thread->cpu_timer;
    if (!timer->armed || timer->generation != generation || thread->run != RUN_ON_CORE)
        return;
    if (thread->on_core_ns + machine.now_ns - thread->since_ns < timer->at_ns) {
        post_tick(thread);
        return;
    }
    timer->armed = false;
    timer->arrived = true;
    if (!thread->stands_still)
        deliver(thread);
}

/* As the kernel leaves it: behind what was executed last, or at the call that is to be repeated. */
static void be_interrupted(struct sim_thread *thread, ucontext_t *context)
{
    static const uint8_t code[] = {0x90, 0x90, 0x0f, 0x05};
    bool asleep = thread->asleep || (machine.scenario->polls && thread->behind_wait);
    context->uc_mcontext.gregs[REG_RAX] = SYS_futex;
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(code + (asleep ? 2 : 0));
    thread->asleep = false;
}

static void call_handler(struct sim_thread *thread)
{
    static ucontext_t context;
    static struct sigaction action; /* as the tool has set it: that does not change */
    siginfo_t info = {.si_signo = thread->timer.signal, .si_code = SI_TIMER};
    if (thread->timer.arrived) {
        info.si_overrun = (int)thread->timer.waiting - 1;
        thread->timer.waiting = 0;
        thread->timer.arrived = false;
    } else {
        info.si_value.sival_int = 1;
        thread->cpu_timer.arrived = false;
        thread->asleep = !thread->woken;
    }
    if (!action.sa_flags)
        sigaction(thread->timer.signal, NULL, &action);
    if (!(action.sa_flags & SA_SIGINFO))
        return;
    machine_switch(thread);
    machine.samples++;
    be_interrupted(thread, &context);
    action.sa_sigaction(thread->timer.signal, &info, &context);
}

static void end_delivery(struct sim_thread *thread)
{
    thread->stands_still = false;
    if (has_signal(thread))
        deliver(thread);
    else if (thread->woken)
        progress(thread);
    else
        leave_core(thread, RUN_WAITS);
    if (!thread->woken && machine.scenario->requeues)
        runtime_locks_requeue(thread);
}

static void stand_still(struct sim_thread *thread)
{
    thread->on_core_ns += machine.now_ns - thread->since_ns;
    thread->since_ns = machine.now_ns;
}

static void go_on_delivering(struct sim_thread *thread, bool handled)
{
    if (!handled && thread->comes_ns != machine.now_ns) /* it has lost its core meanwhile */
        return;
    stand_still(thread);
    thread->comes_ns = 0;
    uint64_t handler = 0;
    if (!handled) {
        call_handler(thread);
        handler = random_duration(&thread->chance, &machine.scenario->handler);
    }
    if (handler)
        queue_post(EVENT_DELIVER, thread, machine.now_ns + handler, 1);
    else
        end_delivery(thread);
}

/* The handler begins after the latency, and the thread goes on when it has run. */
static void deliver(struct sim_thread *thread)
{
    uint64_t latency = random_duration(&thread->chance, &machine.scenario->latency);
    stop_progress(thread);
    thread->stands_still = true;
    thread->comes_ns = machine.now_ns + latency;
    if (latency)
        queue_post(EVENT_DELIVER, thread, machine.now_ns + latency, 0);
    else
        go_on_delivering(thread, false);
}

/* The signal that is on its way comes when it has a core again. */
static void lose_core(struct sim_thread *thread, enum run_state run)
{
    if (thread->comes_ns)
        stand_still(thread);
    thread->stands_still = false;
    thread->comes_ns = 0;
    leave_core(thread, run);
}

static void end_slice(struct sim_thread *thread)
{
    if (ready.first && (!thread->stands_still || thread->comes_ns)) {
        lose_core(thread, RUN_READY);
        make_ready(thread);
    } else {
        queue_post(EVENT_SLICE, thread, machine.now_ns + machine.scenario->slice_ns, thread->slice_generation);
    }
}

/* Of threads that had cores nothing goes on but the clock. */
static void stall(void)
{
    uint64_t ns = random_duration(&machine.chance, &machine.scenario->stall);
    for (uint32_t i = 0; i < machine.thread_count; i++) {
        struct sim_thread *thread = machine.threads[i];
        if (thread->run != RUN_ON_CORE)
            continue;
        note_core(thread, thread->woken);
        thread->since_ns += ns;
        thread->comes_ns += thread->comes_ns ? ns : 0;
    }
    machine.stalled_ns = machine.now_ns;
    queue_stand_still(machine.now_ns, machine.now_ns + ns);
    machine.now_ns = fake_now_ns = machine.went_on_ns = machine.now_ns + ns;
    for (uint32_t i = 0; i < machine.thread_count; i++)
        if (machine.threads[i]->run == RUN_ON_CORE)
            note_core(machine.threads[i], false);
}

static void post_stall(void)
{
    if (machine.scenario->stall.mean_ns)
        queue_post(EVENT_STALL, NULL, machine.now_ns + random_duration(&machine.chance, &machine.scenario->stall_pause),
                   0);
}

/* A thread that waits for a core stops when it has one. */
static void stop_thread(struct sim_thread *thread)
{
    oracle_stopped(thread->number, true);
    if (thread->run == RUN_ON_CORE) {
        lose_core(thread, RUN_STOPPED);
    } else { /* it has a core for as long as that takes */
        thread->run = RUN_STOPPED;
        thread->turns++;
        thread->sleeps++;
    }
}

static bool is_any_in_handler(void)
{
    for (uint32_t i = 0; i < machine.thread_count; i++)
        if (machine.threads[i]->stands_still && !machine.threads[i]->comes_ns)
            return true;
    return false;
}

/* As by SIGSTOP, which stops a process in its handlers, too; here it comes behind them. */
static void stop(void)
{
    if (is_any_in_handler()) {
        queue_post(EVENT_STOP, NULL, machine.now_ns + HANDLER_NS, true);
        return;
    }
    machine.stopped = true;
    for (uint32_t i = 0; i < machine.thread_count; i++)
        if (!machine.threads[i]->foreign &&
            (machine.threads[i]->run == RUN_ON_CORE || machine.threads[i]->run == RUN_WAITS))
            stop_thread(machine.threads[i]);
    queue_post(EVENT_STOP, NULL, machine.now_ns + random_duration(&machine.chance, &machine.scenario->stop), false);
}

/* Each goes on with what it did, or has to be told that its sample is due. */
static void go_on(void)
{
    machine.stopped = false;
    for (uint32_t i = 0; i < machine.thread_count; i++) {
        struct sim_thread *thread = machine.threads[i];
        if (thread->run != RUN_STOPPED)
            continue;
        oracle_stopped(thread->number, false);
        thread->run = RUN_WAITS;
        if (thread->woken || has_signal(thread))
            make_ready(thread);
    }
}

static void post_stop(void)
{
    if (machine.scenario->stop.mean_ns)
        queue_post(EVENT_STOP, NULL, machine.now_ns + random_duration(&machine.chance, &machine.scenario->stop_pause),
                   true);
}

static void handle(const struct event *event)
{
    struct sim_thread *thread = event->thread;
    switch (event->kind) {
    case EVENT_DONE:
        if (event->generation != thread->done_generation)
            return;
        stop_progress(thread);
        machine_switch(thread);
        runtime_go_on(thread);
        break;
    case EVENT_WAKE:
        wake(thread);
        break;
    case EVENT_TIMER:
        expire(thread, event->generation);
        break;
    case EVENT_TICK:
        tick(thread, event->generation);
        break;
    case EVENT_ARRIVE:
        arrive(thread);
        break;
    case EVENT_DELIVER:
        go_on_delivering(thread, event->generation);
        break;
    case EVENT_SLICE:
        if (event->generation == thread->slice_generation)
            end_slice(thread);
        break;
    case EVENT_STALL:
        stall();
        post_stall();
        break;
    case EVENT_STOP:
        if (event->generation) {
            stop();
        } else {
            go_on();
            post_stop();
        }
        break;
    case EVENT_RANK:
        other_ranks_turn(event->generation);
        break;
    }
}

/* Timers go on for ever: when nothing else does, everybody waits for somebody else. */
void machine_run(void)
{
    uint64_t last_ns = machine.now_ns;
    post_stall();
    post_stop();
    while (!queue_is_empty() && !machine.over && machine.events != machine.stop_at - 1 &&
           machine.now_ns - last_ns < LONG_NS) {
        struct event event = queue_take();
        machine.now_ns = fake_now_ns = event.time_ns;
        machine.events++;
        if (event.kind == EVENT_DONE || event.kind == EVENT_WAKE)
            last_ns = machine.now_ns;
        handle(&event);
    }
}
