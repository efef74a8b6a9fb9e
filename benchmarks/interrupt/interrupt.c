/* What a sample's interruption costs, by the mechanism that makes it, with a handler that does nothing. A thread on each core does
 * nothing but read the processor's counter; what lies between two readings that are far apart is lost to it. Mechanisms take
 * turns with none; printed is what is lost more than without, of all cores, for each interruption: the median over the rounds.
 * Usage: interrupt [rate [rounds]]; prints `mechanism interruptions microseconds least most` a line. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define SIGNAL      (SIGRTMIN + 5)
#define MAX_CORES   64
#define MAX_ROUNDS  101
#define ROUND_S     1.0
#define GAP_NS      300.0 /* readings that are further apart have something in between */
#define RING_PAGES  8192u /* a power of two */
#define STACK_BYTES 8192u

enum kind {
    NONE,
    SETTING,
    SILENT,
    ITSELF,
    TIMER,
    CPU_TIMER,
    OTHER,
    PERF_SIGNAL,
    PERF_CHAIN,
    PERF_STACK,
    KINDS
};

static const char *const names[KINDS] = {
    "none",
    "timerfd_settime, never expires",
    "timerfd_settime, expires, no signal",
    "signal to itself",
    "POSIX timer of the thread",
    "POSIX timer of its CPU time",
    "another thread's sleep and signal",
    "perf cpu-clock, signal",
    "perf cpu-clock, ring, call chain",
    "perf cpu-clock, ring, 8 KB of stack",
};

struct worker {
    pthread_t thread;
    pid_t tid;
    int core, fd;
    timer_t timer;
    void *ring;
    uint64_t number;
    double lost_ns;
};

static struct worker workers[MAX_CORES];
static unsigned cores;
static double rate = 200, ticks_per_ns;
static enum kind kind;
static pthread_barrier_t ready;
static volatile bool over;
static __thread volatile uint64_t handled;
static __thread int perf_fd = -1;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static struct timespec of_ns(double ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1e9), .tv_nsec = (long)ns % 1000000000};
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void handle(int signal)
{
    (void)signal;
    handled++;
    if (perf_fd >= 0)
        ioctl(perf_fd, PERF_EVENT_IOC_REFRESH, 1);
}

static void calibrate(void)
{
    double begin_ns = now_ns();
    uint64_t begin = __rdtsc();
    while (now_ns() - begin_ns < 1e8)
        ;
    ticks_per_ns = (double)(__rdtsc() - begin) / (now_ns() - begin_ns);
}

static void start_timer(struct worker *worker, clockid_t clock)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL};
    event._sigev_un._tid = worker->tid;
    /* Cores are not interrupted at once, as they are not by blame. */
    struct itimerspec setting = {.it_value = of_ns(1e9 / rate * (1 + worker->core) / (cores + 1)),
                                 .it_interval = of_ns(1e9 / rate)};
    if (timer_create(clock, &event, &worker->timer) || timer_settime(worker->timer, 0, &setting, NULL))
        fail("timer_create");
}

static void start_perf(struct worker *worker)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_period = (uint64_t)(1e9 / rate),
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_TID,
                                   .disabled = 1,
                                   .exclude_kernel = 1};
    if (kind == PERF_CHAIN)
        attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
    if (kind == PERF_STACK) {
        attr.sample_type |= PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
        attr.sample_stack_user = STACK_BYTES;
        attr.sample_regs_user = 0x1ff; /* ax to flags: what an unwinder begins with */
    }
    worker->fd = (int)syscall(SYS_perf_event_open, &attr, worker->tid, -1, -1, 0);
    if (worker->fd < 0)
        fail("perf_event_open");
    if (kind == PERF_SIGNAL) {
        struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = worker->tid};
        fcntl(worker->fd, F_SETFL, O_ASYNC);
        fcntl(worker->fd, F_SETSIG, SIGNAL);
        fcntl(worker->fd, F_SETOWN_EX, &owner);
        perf_fd = worker->fd;
        ioctl(worker->fd, PERF_EVENT_IOC_REFRESH, 1);
        return;
    }
    worker->ring = mmap(NULL, (RING_PAGES + 1) * 4096ul, PROT_READ | PROT_WRITE, MAP_SHARED, worker->fd, 0);
    if (worker->ring == MAP_FAILED)
        fail("mmap of the ring");
    ioctl(worker->fd, PERF_EVENT_IOC_ENABLE, 0);
}

static void start(struct worker *worker)
{
    handled = 0;
    if (kind == SETTING || kind == SILENT)
        worker->fd = timerfd_create(CLOCK_MONOTONIC, 0);
    else if (kind == TIMER || kind == CPU_TIMER)
        start_timer(worker, kind == TIMER ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
    else if (kind >= PERF_SIGNAL)
        start_perf(worker);
}

static void stop(struct worker *worker)
{
    if (kind == TIMER || kind == CPU_TIMER)
        timer_delete(worker->timer);
    if (kind >= PERF_CHAIN) {
        struct perf_event_mmap_page *head = worker->ring;
        uint64_t bytes = head->data_head;
        worker->number = (uint64_t)(ROUND_S * rate);
        if (!bytes || bytes > RING_PAGES * 4096ul)
            fprintf(stderr, "interrupt: the ring has %llu bytes of %lu\n", (unsigned long long)bytes,
                    RING_PAGES * 4096ul);
        munmap(worker->ring, (RING_PAGES + 1) * 4096ul);
    } else if (kind != SETTING && kind != SILENT) {
        worker->number = handled;
    }
    perf_fd = -1;
    if (worker->fd >= 0)
        close(worker->fd);
    worker->fd = -1;
}

/* What the thread does to itself, when it is due. */
static void act(struct worker *worker)
{
    struct itimerspec setting = {.it_value = of_ns(kind == SETTING ? 3.6e12 : 5e8 / rate)};
    if (kind == ITSELF)
        syscall(SYS_tgkill, getpid(), worker->tid, SIGNAL);
    else
        timerfd_settime(worker->fd, 0, &setting, NULL);
    worker->number++;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    bool acts = kind == SETTING || kind == SILENT || kind == ITSELF;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(worker->core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
    worker->tid = (pid_t)syscall(SYS_gettid);
    worker->lost_ns = 0;
    worker->number = 0;
    worker->fd = -1;
    start(worker);
    pthread_barrier_wait(&ready);
    uint64_t gap = (uint64_t)(GAP_NS * ticks_per_ns), lost = 0, begin = __rdtsc(), before = begin;
    uint64_t end = begin + (uint64_t)(ROUND_S * 1e9 * ticks_per_ns),
             apart = (uint64_t)(1e9 / rate * ticks_per_ns);
    uint64_t due = acts ? begin + apart * (uint64_t)(1 + worker->core) / (cores + 1) : UINT64_MAX;
    while (before < end) {
        uint64_t now = __rdtsc();
        if (now - before > gap)
            lost += now - before;
        before = now;
        if (now >= due) {
            act(worker);
            due += apart;
        }
    }
    worker->lost_ns = (double)lost / ticks_per_ns;
    stop(worker);
    return NULL;
}

/* One thread that sleeps to the next thread's moment, and signals it. */
static void *interrupt_others(void *argument)
{
    double next_ns = now_ns();
    for (unsigned i = 0; !over; i++) {
        next_ns += 1e9 / rate / cores;
        struct timespec until = of_ns(next_ns);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        if (!over)
            syscall(SYS_tgkill, getpid(), workers[i % cores].tid, SIGNAL);
    }
    return argument;
}

/* Returns what was lost, of all cores, and how many interruptions there were. */
static double run(uint64_t *number)
{
    pthread_t other;
    double lost_ns = 0;
    *number = 0;
    over = false;
    pthread_barrier_init(&ready, NULL, cores + 1);
    for (unsigned i = 0; i < cores; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            fail("pthread_create");
    pthread_barrier_wait(&ready);
    if (kind == OTHER && pthread_create(&other, NULL, interrupt_others, NULL))
        fail("pthread_create");
    if (kind == OTHER) {
        usleep((useconds_t)(ROUND_S * 1e6) - 20000);
        over = true;
        pthread_join(other, NULL);
    }
    for (unsigned i = 0; i < cores; i++) {
        pthread_join(workers[i].thread, NULL);
        lost_ns += workers[i].lost_ns;
        *number += workers[i].number;
    }
    return lost_ns;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double each_us[KINDS][MAX_ROUNDS];
    uint64_t numbers[KINDS] = {0};
    int rounds = argc > 2 ? atoi(argv[2]) : 11;
    rate = argc > 1 ? atof(argv[1]) : 200;
    if (!(rate >= 1 && rate <= 10000) || rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: interrupt [rate (1 to 10000) [rounds (1 to %d)]]\n", MAX_ROUNDS);
        return 2;
    }
    cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    cores = cores > MAX_CORES ? MAX_CORES : cores;
    for (unsigned i = 0; i < cores; i++)
        workers[i].core = (int)i;
    sigaction(SIGNAL, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_RESTART}, NULL);
    calibrate();
    for (int round = 0; round < rounds; round++) {
        double none_ns = 0;
        for (kind = NONE; kind < KINDS; kind++) {
            double lost_ns = run(&numbers[kind]);
            none_ns = kind == NONE ? lost_ns : none_ns;
            each_us[kind][round] =
                kind == NONE ? lost_ns / 1000 : (lost_ns - none_ns) / 1000 / (double)numbers[kind];
        }
    }
    printf("%-38s %13s %12s %8s %8s\n", "mechanism", "interruptions", "microseconds", "least", "most");
    for (kind = NONE; kind < KINDS; kind++) {
        qsort(each_us[kind], (size_t)rounds, sizeof(double), compare);
        printf("%-38s %13llu %12.2f %8.2f %8.2f\n", names[kind], (unsigned long long)numbers[kind],
               each_us[kind][rounds / 2], each_us[kind][0], each_us[kind][rounds - 1]);
    }
    return 0;
}
