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
static void count(const char *name, void (*run)(void))
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

static NOINLINE void do_nothing(void)
{
    __asm__ volatile("");
}

static void regions(void)
{
    for (int i = 0; i < repeats; i++)
        fake_parallel(1, do_nothing, NULL);
}

static void barriers(void)
{
    for (int i = 0; i < repeats; i++)
        fake_barrier(0, NULL);
}

static void taskwaits(void)
{
    for (int i = 0; i < repeats; i++)
        fake_taskwait(NULL);
}

static void tasks(void)
{
    for (int i = 0; i < repeats; i++)
        fake_task(do_nothing);
}

static void undeferred_tasks(void)
{
    for (int i = 0; i < repeats; i++) {
        fake_task_begin_if0();
        do_nothing();
        fake_task_complete_if0();
    }
}

static void create_in_taskwait(void)
{
    tasks();
}

/* Waits in a task, and executes other tasks during the wait. Each switch between the tasks leaves or resumes
 * the wait. */
static void waiting_tasks(void)
{
    fake_taskwait(create_in_taskwait);
}

static void use_lock(enum fake_lock kind)
{
    for (int i = 0; i < repeats; i++) {
        fake_lock_acquire(kind, 0x1000);
        fake_lock_release(kind, 0x1000);
    }
}

static void locks(void)
{
    use_lock(FAKE_LOCK);
}

static void criticals(void)
{
    use_lock(FAKE_CRITICAL);
}

static void ordered(void)
{
    use_lock(FAKE_ORDERED);
}

static void loops(void)
{
    for (int i = 0; i < repeats; i++)
        fake_loop();
}

static void nest_locks(void)
{
    for (int i = 0; i < repeats; i++) {
        fake_lock_acquire(FAKE_NEST_LOCK, 0x2000);
        fake_lock_again(0x2000);
        fake_lock_release(FAKE_NEST_LOCK, 0x2000);
    }
}

static void sample_work(void);

/* Takes many locks between two samples. The second sample detects this, and the tool then treats later locks
 * as short ones. */
static void be_fast(void)
{
    repeats = 1;
    sample_work();
    repeats = 10000;
    locks();
    repeats = 1;
    sample_work();
}

static void lock_lives(void)
{
    for (int i = 0; i < repeats; i++) {
        fake_lock_init(FAKE_LOCK, 0x3000);
        fake_lock_destroy(FAKE_LOCK, 0x3000);
    }
}

static void sample_work(void)
{
    samples_here(repeats);
    __asm__ volatile("" ::: "memory");
}

static void work_samples(void)
{
    descend(DEPTH, sample_work);
}

static void deep_tasks(void)
{
    descend(DEPTH, tasks);
}

static const struct blame_calls *calls;

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

static void events(void)
{
    for (int i = 0; i < repeats; i++) {
        send_begin("event", BLAME_EVENT);
        send_end("event", BLAME_EVENT);
    }
    __asm__ volatile("");
}

/* Begins events in the frame that also began the phase around them. */
static void events_in_phase(void)
{
    send_begin("phase", BLAME_PHASE);
    for (int i = 0; i < repeats; i++) {
        send_begin("event", BLAME_EVENT);
        send_end("event", BLAME_EVENT);
    }
    send_end("phase", BLAME_PHASE);
}

static void deep_events_in_phase(void)
{
    send_begin("phase", BLAME_PHASE);
    descend(5, events);
    send_end("phase", BLAME_PHASE);
}

static void deep_events(void)
{
    descend(DEPTH, events);
}

static void sample_five_frames_in(void)
{
    send_begin("phase", BLAME_PHASE);
    descend(5, sample_work);
    send_end("phase", BLAME_PHASE);
}

/* Takes samples as deep in the stack as work_samples() does, but here the stack walk ends at a phase. */
static void phase_samples(void)
{
    descend(DEPTH - 5, sample_five_frames_in);
}

static void idle_samples(void)
{
    fake_barrier(repeats, NULL);
}

/* Another thread, which holds a lock when it is asked to. */
static struct {
    /* number of the current request. If it is odd, the thread takes the lock; if it is even, it releases the
     * lock; if it is -1, the thread ends */
    int asked, done;
} holder;

static void hold_when_asked(void)
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

static void ask_holder(void)
{
    int asked = holder.asked + 1;
    __atomic_store_n(&holder.asked, asked, __ATOMIC_RELEASE);
    while (__atomic_load_n(&holder.done, __ATOMIC_ACQUIRE) != asked)
        sched_yield();
}

static int samples; /* number of samples taken in each wait */

static void wait_for_lock(void)
{
    fake_lock_wait(FAKE_LOCK, 0x4000, samples, ask_holder);
    fake_lock_release(FAKE_LOCK, 0x4000);
}

/* Takes all samples during a single wait for a lock. */
static void lock_samples(void)
{
    samples = repeats;
    ask_holder();
    let_time_pass();
    descend(DEPTH, wait_for_lock);
}

/* Takes one sample in each wait, so that the holder has blame to book at each release. */
static void blamed_releases(void)
{
    samples = 1;
    for (int i = 0; i < repeats; i++) {
        ask_holder();
        let_time_pass();
        descend(DEPTH, wait_for_lock);
    }
}

static void inside_one_thread(void)
{
    count("barrier", barriers);
    count("loop", loops);
    count("taskwait", taskwaits);
    count("task", tasks);
    count("task in taskwait", waiting_tasks);
    count("task at 20 frames", deep_tasks);
    count("task with if(0)", undeferred_tasks);
    count("lock", locks);
    count("critical", criticals);
    count("ordered", ordered);
    count("nestable lock", nest_locks);
    be_fast();
    count("short lock", locks);
    count("short critical", criticals);
    count("short ordered", ordered);
    count("short nestable lock", nest_locks);
    count("lock's life", lock_lives);
    count("event in a phase", events_in_phase);
    count("event 5 frames in", deep_events_in_phase);
    count("event at 20 frames", deep_events);
}

static void inside_two_threads(void)
{
    ask_holder(); /* the other thread starts here, where nothing is counted */
    ask_holder();
    count("sample WORK", work_samples);
    count("sample in a phase", phase_samples);
    count("sample IDLE", idle_samples);
    count("sample LOCKWAIT", lock_samples);
    count("blamed release", blamed_releases);
    __atomic_store_n(&holder.asked, -1, __ATOMIC_RELEASE);
}

static sem_t begun, over;

static void be_there(void)
{
    sem_post(&begun);
    while (sem_wait(&over) != 0)
        ;
}

/* Takes a sample while there are many threads. The result shows how the cost of the census depends on the
 * number of threads. */
static void inside_a_crowd(void)
{
    for (int i = 1; i < FAKE_THREADS; i++)
        sem_wait(&begun);
    count("sample WORK of 64", work_samples);
    for (int i = 1; i < FAKE_THREADS; i++)
        sem_post(&over);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return fputs("usage: gate TOOL callbacks|scenarios\n", stderr), 2;
    if (!fake_start(argv[1]))
        return 1;
    if (strcmp(argv[2], "callbacks") == 0) {
        fake_print_callbacks();
    } else if (clock_reads == 0 || !sample_find_handler(fake_signal())) {
        fputs("gate: the tool gets its timer or its clock in a way that this program does not know\n", stderr);
        return 1;
    } else {
        calls = fake_blame_calls();
        if (!calls)
            return fputs("gate: the tool does not give its calls for phases and events\n", stderr), 1;
        sem_init(&begun, 0, 0);
        sem_init(&over, 0, 0);
        repeats = WARM_UP;
        /* Moves the times at which the next samples are due this many periods into the future, so that no
         * sample is late on a slow machine. */
        sample_work();
        count("parallel", regions);
        fake_parallel(1, inside_one_thread, NULL);
        fake_parallel(2, inside_two_threads, hold_when_asked);
        fake_parallel(FAKE_THREADS, inside_a_crowd, be_there);
    }
    fflush(stdout);
    _exit(0); /* the measurement is not completed, because no profile is needed */
}
