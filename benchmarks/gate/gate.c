/* Runs the scenarios whose instructions the gate counts. Each scenario is run once to warm up. Then
 * callgrind's counts are set to zero, the scenario is repeated a fixed number of times, and callgrind writes
 * the counts under the scenario's name. No timer runs. To take a sample, the program calls the tool's signal
 * handler with the arguments that a timer's signal would have. A real signal would not do, because valgrind
 * delivers it some basic blocks later, and not always in the same place.
 * Usage: gate TOOL callbacks | gate TOOL scenarios */
#include <link.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <valgrind/callgrind.h>

#include "base/kernel.h"
#include "benchmarks/gate/descend.h"
#include "benchmarks/gate/fake_runtime.h"
#include "benchmarks/gate/sample.h"
#include "include/blame.h"

#define EXPORT   __attribute__((visibility("default")))
#define NOINLINE __attribute__((noinline))
#define WARM_UP  20
#define REPEATS  100
#define DEPTH    20 /* number of frames that a deep scenario has in addition to those of all scenarios */

/* This symbol hides the list of libraries from the tool. The tool then finds the functions that are replaced
 * below by their names (docs/concurrency.md, "Names"). */
EXPORT struct r_debug _r_debug;

static int clock_reads;

/* Slows the tool's clock down by a factor of 1,000. The processor's counter slows down too, because the tool
 * calibrates it by this clock. Some work of the tool depends on time; for example, it reads the load map
 * again after a second. With the real clock, the machine's load would decide when that work is done. The
 * system call does not go through the replaced syscall(), which would add instructions. */
EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
    static long begin_ns;
    int status = (int)kernel_call(SYS_clock_gettime, clock, (long)time, 0, 0, 0, 0);
    if (clock != CLOCK_MONOTONIC || status != 0)
        return status;
    long now_ns = time->tv_sec * 1000000000 + time->tv_nsec;
    if (!begin_ns)
        begin_ns = now_ns;
    now_ns = begin_ns + (now_ns - begin_ns) / 1000;
    time->tv_sec = now_ns / 1000000000;
    time->tv_nsec = now_ns % 1000000000;
    clock_reads++;
    return 0;
}

static int repeats; /* how often the current scenario is repeated */

/* Counts the instructions of one scenario. Calls its function twice; only the second call is counted. */
static void gate_count(const char *name, void (*run)(void))
{
    char label[64];
    snprintf(label, sizeof(label), "%s:%d", name, REPEATS);
    repeats = WARM_UP;
    run();
    repeats = REPEATS;
    CALLGRIND_ZERO_STATS;
    run();
    CALLGRIND_DUMP_STATS_AT(label);
}

static NOINLINE void gate_do_nothing(void)
{
    __asm__ volatile("");
}

static void gate_regions(void)
{
    for (int i = 0; i < repeats; i++)
        fake_parallel(1, gate_do_nothing, NULL);
}

static void gate_barriers(void)
{
    for (int i = 0; i < repeats; i++)
        fake_barrier(0, NULL);
}

static void gate_taskwaits(void)
{
    for (int i = 0; i < repeats; i++)
        fake_taskwait(NULL);
}

static void gate_tasks(void)
{
    for (int i = 0; i < repeats; i++)
        fake_task(gate_do_nothing);
}

static void gate_undeferred_tasks(void)
{
    for (int i = 0; i < repeats; i++) {
        fake_task_begin_if0();
        gate_do_nothing();
        fake_task_complete_if0();
    }
}

static void gate_create_in_taskwait(void)
{
    gate_tasks();
}

/* Waits in a task, and executes other tasks during the wait. Each switch between the tasks leaves or resumes
 * the wait. */
static void gate_waiting_tasks(void)
{
    fake_taskwait(gate_create_in_taskwait);
}

static void gate_use_lock(enum fake_lock kind)
{
    for (int i = 0; i < repeats; i++) {
        fake_lock_acquire(kind, 0x1000);
        fake_lock_release(kind, 0x1000);
    }
}

static void gate_locks(void)
{
    gate_use_lock(FAKE_LOCK);
}

static void gate_criticals(void)
{
    gate_use_lock(FAKE_CRITICAL);
}

static void gate_ordered(void)
{
    gate_use_lock(FAKE_ORDERED);
}

static void gate_loops(void)
{
    for (int i = 0; i < repeats; i++)
        fake_loop();
}

static void gate_nest_locks(void)
{
    for (int i = 0; i < repeats; i++) {
        fake_lock_acquire(FAKE_NEST_LOCK, 0x2000);
        fake_lock_again(0x2000);
        fake_lock_release(FAKE_NEST_LOCK, 0x2000);
    }
}

static void gate_sample_work(void);

/* Takes many locks between two samples. The second sample detects this, and the tool then treats later locks
 * as short ones. */
static void gate_be_fast(void)
{
    repeats = 1;
    gate_sample_work();
    repeats = 10000;
    gate_locks();
    repeats = 1;
    for (int i = 0; i < 10; i++) /* samples that are close together do not show how often locks are taken */
        gate_let_time_pass();
    gate_sample_work();
}

static void gate_lock_lives(void)
{
    for (int i = 0; i < repeats; i++) {
        fake_lock_init(FAKE_LOCK, 0x3000);
        fake_lock_destroy(FAKE_LOCK, 0x3000);
    }
}

static void gate_sample_work(void)
{
    gate_samples_here(repeats);
    __asm__ volatile("" ::: "memory");
}

static void gate_work_samples(void)
{
    gate_descend(DEPTH, gate_sample_work);
}

static void gate_deep_tasks(void)
{
    gate_descend(DEPTH, gate_tasks);
}

static const struct blame_calls *calls;

/* gate.py counts the calls of functions whose names start with send_. */
static NOINLINE void send_begin(const char *name, enum blame_kind kind)
{
    calls->begin(name, strlen(name), kind, 0);
    __asm__ volatile("");
}

static NOINLINE void send_end(const char *name, enum blame_kind kind)
{
    calls->end(name, strlen(name), kind);
    __asm__ volatile("");
}

static void gate_events(void)
{
    for (int i = 0; i < repeats; i++) {
        send_begin("event", BLAME_EVENT);
        send_end("event", BLAME_EVENT);
    }
    __asm__ volatile("");
}

/* Begins events in the frame that also began the phase around them. */
static void gate_events_in_phase(void)
{
    send_begin("phase", BLAME_PHASE);
    for (int i = 0; i < repeats; i++) {
        send_begin("event", BLAME_EVENT);
        send_end("event", BLAME_EVENT);
    }
    send_end("phase", BLAME_PHASE);
}

static void gate_deep_events_in_phase(void)
{
    send_begin("phase", BLAME_PHASE);
    gate_descend(5, gate_events);
    send_end("phase", BLAME_PHASE);
}

static void gate_deep_events(void)
{
    gate_descend(DEPTH, gate_events);
}

static void gate_sample_five_frames_in(void)
{
    send_begin("phase", BLAME_PHASE);
    gate_descend(5, gate_sample_work);
    send_end("phase", BLAME_PHASE);
}

/* Takes samples as deep in the stack as gate_work_samples() does, but here the stack walk ends at a phase. */
static void gate_phase_samples(void)
{
    gate_descend(DEPTH - 5, gate_sample_five_frames_in);
}

static void gate_idle_samples(void)
{
    fake_barrier(repeats, NULL);
}

/* Another thread, which holds a lock when it is asked to. */
static struct {
    /* number of the current request. If it is odd, the thread takes the lock; if it is even, it releases the
     * lock; if it is -1, the thread ends */
    int asked, done;
} holder;

static void gate_hold_when_asked(void)
{
    int asked;
    while ((asked = __atomic_load_n(&holder.asked, __ATOMIC_ACQUIRE)) >= 0) {
        if (asked == holder.done) {
            sched_yield();
            continue;
        }
        if (asked & 1)
            fake_lock_acquire(FAKE_LOCK, 0x4000);
        else
            fake_lock_release(FAKE_LOCK, 0x4000);
        __atomic_store_n(&holder.done, asked, __ATOMIC_RELEASE);
    }
}

static void gate_ask_holder(void)
{
    int asked = holder.asked + 1;
    __atomic_store_n(&holder.asked, asked, __ATOMIC_RELEASE);
    while (__atomic_load_n(&holder.done, __ATOMIC_ACQUIRE) != asked)
        sched_yield();
}

static int samples; /* number of samples taken in each wait */

static void gate_wait_for_lock(void)
{
    fake_lock_wait(FAKE_LOCK, 0x4000, samples, gate_ask_holder);
    fake_lock_release(FAKE_LOCK, 0x4000);
}

/* Takes all samples during a single wait for a lock. */
static void gate_lock_samples(void)
{
    samples = repeats;
    gate_ask_holder();
    gate_let_time_pass();
    gate_descend(DEPTH, gate_wait_for_lock);
}

static void gate_nothing(void)
{
}

static void gate_wait_for_turn(void)
{
    fake_lock_wait(FAKE_ORDERED, 0x5000, 1, gate_nothing);
    fake_lock_release(FAKE_ORDERED, 0x5000);
}

/* Takes one sample in each wait for a turn in `ordered`, so that there is blame to book at each release. */
static void gate_blamed_releases(void)
{
    for (int i = 0; i < repeats; i++) {
        gate_let_time_pass();
        gate_descend(DEPTH, gate_wait_for_turn);
    }
}

static void gate_inside_one_thread(void)
{
    gate_count("barrier", gate_barriers);
    gate_count("loop", gate_loops);
    gate_count("taskwait", gate_taskwaits);
    gate_count("task", gate_tasks);
    gate_count("task in taskwait", gate_waiting_tasks);
    gate_count("task at 20 frames", gate_deep_tasks);
    gate_count("task with if(0)", gate_undeferred_tasks);
    gate_count("lock", gate_locks);
    gate_count("critical", gate_criticals);
    gate_count("ordered", gate_ordered);
    gate_count("nestable lock", gate_nest_locks);
    gate_be_fast();
    gate_count("short lock", gate_locks);
    gate_count("short critical", gate_criticals);
    gate_count("short ordered", gate_ordered);
    gate_count("short nestable lock", gate_nest_locks);
    gate_count("lock's life", gate_lock_lives);
    gate_count("event in a phase", gate_events_in_phase);
    gate_count("event 5 frames in", gate_deep_events_in_phase);
    gate_count("event at 20 frames", gate_deep_events);
}

static void gate_inside_two_threads(void)
{
    gate_ask_holder(); /* the other thread starts here, where nothing is counted */
    gate_ask_holder();
    gate_count("sample WORK", gate_work_samples);
    gate_count("sample in a phase", gate_phase_samples);
    gate_count("sample IDLE", gate_idle_samples);
    gate_count("sample LOCKWAIT", gate_lock_samples);
    gate_count("blamed release", gate_blamed_releases);
    gate_be_fast();
    gate_count("short lock, waiters elsewhere", gate_locks);
    __atomic_store_n(&holder.asked, -1, __ATOMIC_RELEASE);
}

static struct {
    unsigned threads;
    const char *name; /* of the sample */
    sem_t begun, over;
} crowd;

static void gate_be_there(void)
{
    sem_post(&crowd.begun);
    while (sem_wait(&crowd.over) != 0)
        ;
}

static void gate_be_idle(void)
{
    fake_barrier(0, gate_be_there);
}

/* Takes a sample while there are many threads. The result shows how the cost of the census depends on the
 * number of threads. */
static void gate_inside_a_crowd(void)
{
    for (unsigned i = 1; i < crowd.threads; i++)
        sem_wait(&crowd.begun);
    gate_count(crowd.name, gate_work_samples);
    for (unsigned i = 1; i < crowd.threads; i++)
        sem_post(&crowd.over);
}

/* Inline, so that samples are as deep in the stack as others. */
static inline __attribute__((always_inline)) void gate_in_crowd(unsigned threads, const char *name, fake_body others)
{
    crowd.threads = threads;
    crowd.name = name;
    sem_init(&crowd.begun, 0, 0);
    sem_init(&crowd.over, 0, 0);
    fake_parallel(threads, gate_inside_a_crowd, others);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return fputs("usage: gate TOOL callbacks|scenarios\n", stderr), 2;
    if (!fake_start(argv[1]))
        return 1;
    if (strcmp(argv[2], "callbacks") == 0) {
        fake_print_callbacks();
    } else if (clock_reads == 0 || !gate_find_sample_handler(fake_signal())) {
        fputs("gate: the tool gets its timer or its clock in a way that this program does not know\n", stderr);
        return 1;
    } else {
        calls = fake_blame_calls();
        if (!calls)
            return fputs("gate: the tool does not give its calls for phases and events\n", stderr), 1;
        repeats = WARM_UP;
        /* Moves the times at which the next samples are due this many periods into the future, so that no
         * sample is late on a slow machine. */
        gate_sample_work();
        gate_count("parallel", gate_regions);
        fake_parallel(1, gate_inside_one_thread, NULL);
        fake_parallel(2, gate_inside_two_threads, gate_hold_when_asked);
        gate_in_crowd(64, "sample WORK of 64", gate_be_there);
        gate_in_crowd(256, "sample WORK, 255 idle", gate_be_idle);
    }
    fflush(stdout);
    _exit(0); /* the measurement is not completed, because no profile is needed */
}
