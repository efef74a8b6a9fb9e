/* Measures how long the tool's signal handler takes for a sample, in ns. Calls the handler as gate.c does,
 * but with real clocks, and many times between two readings of the clock. Prints one line for each scenario:
 * its name, its number of frames, and the minimum and the median over all batches, in ns per sample
 * (times.py). No timer runs, so the result does not include the time in which the kernel delivers a signal.
 * Usage: times TOOL [SCENARIO [ROUNDS]] */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <x86intrin.h>

#include "benchmarks/gate/descend.h"
#include "benchmarks/gate/fake_runtime.h"

#define NOINLINE     __attribute__((noinline))
#define BATCHES      401
#define BATCH        64 /* samples */
#define WARM_UP      256
#define COLD_BYTES   (64u << 20) /* larger than all caches of a core */
#define LOCK         0x4000
#define NS_PER_S     1000000000.0
#define COLD_BATCHES 41

/* name of the current scenario, and number of frames in addition to those of all scenarios */
static const char *name;
static int frames;
static const int depths[] = {5, 20, 60};
static int rounds;       /* number of additional rounds with 20 frames, to be examined with a profiler */
static const char *only; /* name of the only scenario to run; NULL: all are run */
static int leaves;       /* number of places in the program at which samples are taken in turn */
static bool cold;
static double batch_ns[BATCHES];
static sem_t begun, end;

static double times_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * NS_PER_S + (double)now.tv_nsec;
}

static int times_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void times_print_batches(int count)
{
    qsort(batch_ns, (size_t)count, sizeof batch_ns[0], times_compare);
    printf("%s,%d,%.1f,%.1f\n", name, frames, batch_ns[0], batch_ns[count / 2]);
}

/* Returns how long it takes to read the clock, in ns. This time is subtracted if a batch consists of one
 * sample. */
static double times_reading_ns(void)
{
    double least = NS_PER_S;
    for (int i = 0; i < 1000; i++) {
        double begin = times_now_ns(), passed = times_now_ns() - begin;
        least = passed < least ? passed : least;
    }
    return least;
}

/* Fills the caches with other data before each sample, as a program with much data would. */
static void times_run_cold(sample_handler handler, int signal, siginfo_t *info, ucontext_t *contexts)
{
    static char *memory;
    double reading = times_reading_ns();
    if (!memory)
        memory = mmap(NULL, COLD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    for (int i = 0; i < COLD_BATCHES; i++) {
        for (size_t at = 0; memory != MAP_FAILED && at < COLD_BYTES; at += 64)
            memory[at]++;
        double begin = times_now_ns();
        handler(signal, info, &contexts[i % leaves]);
        batch_ns[i] = times_now_ns() - begin - reading;
    }
    times_print_batches(COLD_BATCHES);
}

static void times_run_batches(sample_handler handler, int signal, siginfo_t *info, ucontext_t *contexts)
{
    for (int i = 0; i < WARM_UP; i++)
        handler(signal, info, &contexts[i % leaves]);
    if (cold) {
        times_run_cold(handler, signal, info, contexts);
        return;
    }
    for (int batch = 0; batch < BATCHES; batch++) {
        double begin = times_now_ns();
        for (int i = 0; i < BATCH; i++)
            handler(signal, info, &contexts[i % leaves]);
        batch_ns[batch] = (times_now_ns() - begin) / BATCH;
    }
    times_print_batches(BATCHES);
}

static void times_work(void)
{
    gate_samples_here(1);
    __asm__ volatile("" ::: "memory");
}

static void times_work_in_runtime(void)
{
    fake_work(1);
    __asm__ volatile("" ::: "memory");
}

static void times_idle(void)
{
    fake_barrier(1, NULL);
    __asm__ volatile("" ::: "memory");
}

static void times_wait_for_lock(void)
{
    fake_lock_wait(FAKE_LOCK, LOCK, 1, NULL);
    fake_lock_release(FAKE_LOCK, LOCK);
}

static bool times_is_wanted(const char *scenario)
{
    name = scenario;
    return !only || strcmp(only, scenario) == 0;
}

static void times_at_depths(const char *scenario, int hit_leaves, void (*leaf)(void))
{
    if (!times_is_wanted(scenario))
        return;
    leaves = hit_leaves;
    frames = 20;
    for (int round = 0; round < rounds; round++)
        gate_descend(frames, leaf);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        frames = depths[i];
        gate_descend(frames, leaf);
    }
}

static struct {
    sample_handler handler;
    int signal;
    siginfo_t *info;
} sample;

static void times_keep_handler(sample_handler handler, int signal, siginfo_t *info, ucontext_t *contexts)
{
    static siginfo_t kept;
    (void)contexts;
    kept = *info;
    sample.handler = handler;
    sample.signal = signal;
    sample.info = &kept;
}

static NOINLINE void times_sample_once(void)
{
    static ucontext_t context;
    gate_be_interrupted_here(&context);
    sample.handler(sample.signal, sample.info, &context);
    __asm__ volatile("" ::: "memory");
}

static NOINLINE void times_sample_never(void)
{
    __asm__ volatile("" ::: "memory");
}

static NOINLINE int times_from_here(int left, void (*leaf)(void))
{
    int result = gate_descend(left, leaf);
    __asm__ volatile("" : "+r"(result));
    return result;
}

static NOINLINE int times_from_there(int left, void (*leaf)(void))
{
    int result = gate_descend(left, leaf);
    __asm__ volatile("" : "+r"(result) : : "rcx"); /* keeps the compiler from merging the two functions */
    return result + 1;
}

static void times_in_turn(void (*leaf)(void))
{
    times_from_here(frames, leaf);
    times_from_there(frames, leaf);
}

static void (*in_region)(void);

static void times_new_region(void)
{
    fake_parallel(1, in_region, NULL);
    __asm__ volatile("" ::: "memory");
}

static void times_in_new_regions(void (*leaf)(void))
{
    in_region = leaf;
    gate_descend(frames, times_new_region);
    gate_descend(frames, times_new_region);
}

static double times_pairs_ns(void (*pair)(void (*)(void)), void (*leaf)(void))
{
    double begin = times_now_ns();
    for (int i = 0; i < BATCH / 2; i++)
        pair(leaf);
    return (times_now_ns() - begin) / BATCH;
}

/* Measures samples that need some setup before each of them. The time of the setup is measured and
 * subtracted. */
static void times_by_pairs(const char *scenario, void (*pair)(void (*)(void)))
{
    if (!times_is_wanted(scenario))
        return;
    time_samples = times_keep_handler;
    gate_samples_here(1);
    time_samples = times_run_batches;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        double without = NS_PER_S, with;
        frames = depths[i];
        for (int batch = 0; batch < BATCHES; batch++)
            without = (with = times_pairs_ns(pair, times_sample_never)) < without ? with : without;
        for (int batch = 0; batch < BATCHES + WARM_UP / BATCH; batch++)
            batch_ns[batch % BATCHES] = times_pairs_ns(pair, times_sample_once) - without;
        times_print_batches(BATCHES);
    }
}

static void times_other_thread_sleeps(void)
{
    sem_post(&begun);
    while (sem_wait(&end) != 0)
        ;
}

static void times_other_thread_waits(void)
{
    fake_barrier(0, times_other_thread_sleeps);
}

static void times_other_thread_holds(void)
{
    fake_lock_acquire(FAKE_LOCK, LOCK);
    times_other_thread_sleeps();
    fake_lock_release(FAKE_LOCK, LOCK);
}

static void times_beside_working_thread(void)
{
    sem_wait(&begun);
    times_at_depths("WORK", 1, times_work);
    times_at_depths("WORK, 4 leaves in turn", LEAVES, times_work);
    times_by_pairs("WORK, another path each time", times_in_turn);
    times_at_depths("WORK in the runtime", 1, times_work_in_runtime);
    times_at_depths("IDLE", 1, times_idle);
    times_at_depths("LOCKWAIT", 1, times_wait_for_lock);
    cold = true;
    times_at_depths("WORK, cold", LEAVES, times_work);
    times_at_depths("IDLE, cold", 1, times_idle);
    cold = false;
    sem_post(&end);
}

static void times_beside_waiting_thread(void)
{
    sem_wait(&begun);
    times_at_depths("WORK, another thread waits", LEAVES, times_work);
    sem_post(&end);
}

static void times_print_clocks(void)
{
    double begin = times_now_ns();
    for (int i = 0; i < 100000; i++)
        times_now_ns();
    printf("a reading of the clock,0,%.1f,0\n", (times_now_ns() - begin) / 100000);
    begin = times_now_ns();
    for (int i = 0; i < 100000; i++)
        __rdtsc();
    printf("a reading of the counter,0,%.1f,0\n", (times_now_ns() - begin) / 100000);
    begin = times_now_ns();
    for (int i = 0; i < 100000; i++)
        syscall(SYS_getppid);
    printf("a system call that does nothing,0,%.1f,0\n", (times_now_ns() - begin) / 100000);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4)
        return fputs("usage: times TOOL [SCENARIO [ROUNDS]]\n", stderr), 2;
    only = argv[2];
    rounds = argc > 3 ? atoi(argv[3]) : 0;
    if (!fake_start(argv[1]))
        return 1;
    if (!gate_find_sample_handler(fake_signal())) {
        fputs("times: the tool gets its timer in a way that this program does not know\n", stderr);
        return 1;
    }
    sem_init(&begun, 0, 0);
    sem_init(&end, 0, 0);
    time_samples = times_run_batches;
    fake_time_samples(times_run_batches);
    if (!only)
        times_print_clocks();
    times_by_pairs("WORK, first in its region", times_in_new_regions);
    fake_parallel(2, times_beside_working_thread, times_other_thread_holds);
    fake_parallel(2, times_beside_waiting_thread, times_other_thread_waits);
    fflush(stdout);
    _exit(0); /* the measurement is not completed, because no profile is needed */
}
