/* What the plugin asks the operating system for: instead of base/os.c's (-Wl,--wrap), and base/run_counts.c. */
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/run_counts.h"
#include "ompt_tool/restart/restart.h"
#include "tests/simulator/machine.h"
#include "tests/simulator/queue.h"
#include "tests/unit/fake_clock.h"

/* A handle of a thread's timer of CPU time is the thread's address plus 1. */
#define CPU_TIMER 1u

bool __wrap_os_timer_start(timer_t *timer, int signal, bool cpu_clock, uint64_t first_ns, uint64_t period_ns);
void __wrap_os_timer_stop(timer_t timer);
bool __wrap_os_timer_set(timer_t timer, bool cpu_clock, uint64_t first_ns, uint64_t period_ns);
uint64_t __wrap_os_tick_ns(void);
bool __wrap_os_timer_is_there(timer_t timer);
pid_t __wrap_os_tid(void);
void __wrap_os_run_times(pid_t tid, uint64_t *on_core_ns, uint64_t *no_core_ns);
unsigned __wrap_os_cores(void);
uint64_t __wrap_os_process_start_ns(void);
bool __wrap_os_copy_memory(void *to, uintptr_t from, size_t bytes);
void __wrap_machine_describe(void);
void __wrap_machine_note(const char *key);
void __wrap_machine_note_tracer(void);

static struct sim_thread *cpu_timer_owner(timer_t timer)
{
    return (struct sim_thread *)((char *)timer - CPU_TIMER);
}

uint64_t __wrap_os_tick_ns(void)
{
    return TICK_NS;
}

bool __wrap_os_timer_set(timer_t timer, bool cpu_clock, uint64_t first_ns, uint64_t period_ns)
{
    struct sim_thread *thread = timer;
    if (cpu_clock) {
        machine_set_cpu_timer(cpu_timer_owner(timer), first_ns);
        return true;
    }
    thread->timer.generation++;
    thread->timer.armed = period_ns != 0;
    thread->timer.due_ns = first_ns;
    thread->timer.period_ns = period_ns;
    if (period_ns)
        queue_post(EVENT_TIMER, thread, first_ns > machine.now_ns ? first_ns : machine.now_ns,
                   thread->timer.generation);
    return true;
}

bool __wrap_os_timer_start(timer_t *timer, int signal, bool cpu_clock, uint64_t first_ns, uint64_t period_ns)
{
    if (cpu_clock) {
        *timer = (char *)machine.current + CPU_TIMER;
        return __wrap_os_timer_set(*timer, true, first_ns, period_ns);
    }
    *timer = machine.current;
    machine.current->timer.signal = signal;
    return __wrap_os_timer_set(*timer, cpu_clock, first_ns, period_ns);
}

bool __wrap_os_timer_is_there(timer_t timer)
{
    return timer != NULL;
}

void __wrap_os_timer_stop(timer_t timer)
{
    struct sim_thread *thread = timer;
    if ((uintptr_t)timer & CPU_TIMER) {
        thread = cpu_timer_owner(timer);
        thread->cpu_timer.armed = thread->cpu_timer.arrived = false;
        return;
    }
    thread->timer.armed = false;
    thread->timer.generation++;
    thread->timer.waiting = 0;
    thread->timer.arrived = false;
}

/* All that is read here lies in the simulator's own data. */
bool __wrap_os_copy_memory(void *to, uintptr_t from, size_t bytes)
{
    memcpy(to, (const void *)from, bytes);
    return true;
}

/* The real machine is not the played one. */
void __wrap_machine_describe(void)
{
}

void __wrap_machine_note(const char *key)
{
    (void)key;
}

void __wrap_machine_note_tracer(void)
{
}

pid_t __wrap_os_tid(void)
{
    return getpid() + (machine.current ? (pid_t)machine.current->number : 0);
}

void __wrap_os_run_times(pid_t tid, uint64_t *on_core_ns, uint64_t *no_core_ns)
{
    const struct sim_thread *thread = machine.threads ? machine.threads[tid - getpid()] : NULL;
    *on_core_ns = thread ? thread->on_core_ns + TICK_NS : 0; /* as below; none before the tool's start */
    *no_core_ns = thread ? thread->no_core_ns : 0;
}

bool run_file_keep(struct run_file *file)
{
    file->fd = 1;
    return true;
}

void run_file_let_go(struct run_file *file)
{
    file->fd = 0;
}

/* How long the thread has run since the last tick or switch, or since the program has asked for that time; a tick that was due while the machine stood still came behind that. */
static uint64_t uncounted_ns(const struct sim_thread *thread)
{
    uint64_t tick_ns = machine.now_ns - machine.now_ns % TICK_NS;
    uint64_t since_ns = tick_ns > thread->turn_ns ? tick_ns : thread->turn_ns, begin_ns = machine.stalled_ns;
    uint64_t stood_ns =
        since_ns < machine.went_on_ns ? machine.went_on_ns - (since_ns > begin_ns ? since_ns : begin_ns) : 0;
    bool counted = machine.scenario->reads_time || thread->run != RUN_ON_CORE; /* a switch counts */
    return counted ? 0 : machine.now_ns - since_ns - stood_ns;
}

/* The current thread's; what it ran is counted at ticks. */
bool run_counts_read(const struct run_file *file, struct run_counts *counts)
{
    const struct sim_thread *thread = machine.current;
    (void)file;
    fake_cpu_ns = thread->on_core_ns + TICK_NS; /* a thread runs before it begins to be played */
    counts->on_core_ns = fake_cpu_ns - uncounted_ns(thread);
    counts->no_core_ns = thread->no_core_ns;
    counts->turns = thread->turns;
    return true;
}

/* The context has no code around it. */
enum restart_call __wrap_restart_call_before(const ucontext_t *context)
{
    (void)context;
    return machine.current->behind_wait ? RESTART_CALL_WAIT : RESTART_CALL_NONE;
}

uint64_t __wrap_restart_sleep_limit_ns(const ucontext_t *context)
{
    (void)context;
    return machine.scenario->polls ? machine.current->limit_ns : UINT64_MAX;
}

/* As of a usleep, or a poll. */
uint64_t __wrap_restart_sleep_end_ns(const ucontext_t *context, uint64_t begin_ns, uint64_t end_ns, uint64_t now_ns)
{
    (void)context, (void)now_ns;
    if (!machine.scenario->nanosleeps && !machine.scenario->polls)
        return 0;
    return end_ns ? end_ns : begin_ns ? begin_ns + machine.current->limit_ns : 0;
}

struct run_switches run_switches(void)
{
    const struct sim_thread *thread = machine.current;
    return (struct run_switches){.sleeps = thread->sleeps, .preemptions = thread->preemptions};
}

struct kernel_use kernel_use_of_process(void)
{
    return (struct kernel_use){0};
}

unsigned __wrap_os_cores(void)
{
    return machine.scenario->cores;
}

uint64_t __wrap_os_process_start_ns(void)
{
    return machine.start_ns;
}
