/* Blame known by construction. A program spins in named functions, records what each thread really did and
 * when, and prints at its end what a correct profile must say:
 *
 *     expect METRIC FUNCTION SECONDS     inclusive METRIC summed over the outermost rows of FUNCTION
 *     (FUNCTION may contain blanks: it ends at the last one)
 *     path SECONDS A > B > C             inclusive work of the one row with these ancestors below the root
 *     bound NAME VALUE                   an upper limit that the test knows by NAME
 *
 * The expectations come from the recorded clock readings, so noise on the machine moves both sides alike.
 * They follow LMF13 eq. 1 with the integrated method: while b threads are busy (working or waiting for a
 * lock) out of T, each busy thread's context inherits dt (T/b - 1) of idleness, and a waiter hands its share,
 * and its waiting, to the holder of its lock. A thread is idle whenever it recorded nothing: a program whose
 * threads are long in the runtime without waiting there records that, too (INTERVAL_RUNTIME).
 *
 * TEST_LOADED=1, for machines on which threads wait for cores: they work for so long by their own CPU time, and each reading
 * of the clock is one of the kernel's counts, too. Then work is CPU time, `no_core` is stated (of a waiter only as far as nobody held
 * its lock meanwhile), and idleness is with that of `<no core>` below. */
#ifndef BLAME_TESTS_ANALYTIC_H
#define BLAME_TESTS_ANALYTIC_H

#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A row of its own in the profile: never inlined, cloned or merged with its like. */
#ifdef __clang__
#define NAMED __attribute__((noinline))
#else
#define NAMED __attribute__((noinline, noclone, noipa))
#endif
/* Helpers must not stand between a named function and its caller: a call to them in tail position would
 * replace the named function on the stack. */
#define HELPER static inline __attribute__((always_inline))

enum interval_kind { INTERVAL_WORK, INTERVAL_HOLD, INTERVAL_WAIT, INTERVAL_RUNTIME, INTERVAL_BLOCKED };

struct interval {
    double begin_s, end_s;
    const char *function;
    const void *lock; /* of HOLD and WAIT */
    enum interval_kind kind;
    double no_core_s; /* of it */
    int thread;
    int team; /* threads in use while this ran: what shared idleness counts */
};

struct blamed {
    const char *function;
    double work, idleness, shared_idleness, lock_wait, lock_wait_here, no_core, blocked, core_idleness;
};

#define MAX_INTERVALS 65536
#define MAX_FUNCTIONS 32
#define MAX_THREADS   64

static struct interval intervals[MAX_INTERVALS];
static int interval_count;
static struct blamed blamed[MAX_FUNCTIONS];
static int blamed_count;
static int thread_count;
static _Thread_local int thread_number = -1;

/* TEST_PACE=5: the program's clock is five times as fast, for tests that ask what there is and not how long. */
static double pace = 1;
static int loaded;

__attribute__((constructor)) static void read_pace(void)
{
    const char *text = getenv("TEST_PACE");
    pace = text ? atof(text) : 1;
    loaded = getenv("TEST_LOADED") != NULL;
}

HELPER double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return pace * ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
}

/* A thread's last readings of the clock: how long it had run then, and been ready without a core. */
#define READINGS 16u
struct reading {
    double at_s, ran_s, delayed_s;
};
static _Thread_local struct reading readings[READINGS];
static _Thread_local unsigned reading_count;

static inline void note_reading(double at_s)
{
    static _Thread_local int file;
    char text[64] = "", *delay = text;
    struct reading *reading = &readings[reading_count++ % READINGS];
    if (!file)
        file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (pread(file, text, sizeof text - 1, 0) > 0)
        strtoull(text, &delay, 10);
    reading->at_s = at_s;
    reading->ran_s = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    reading->delayed_s = 1e-9 * (double)strtoull(delay, NULL, 10);
}

HELPER double clock_s(void)
{
    double now_s = seconds_of(CLOCK_MONOTONIC);
    if (loaded)
        note_reading(now_s);
    return now_s;
}

static inline const struct reading *reading_at(double at_s)
{
    for (unsigned i = 0; i < READINGS; i++)
        if (readings[i].at_s == at_s)
            return &readings[i];
    return NULL;
}

/* Of the time between two readings of the calling thread's: when it waits it is not that it does not run. */
static inline double no_core_between(int waits, double begin_s, double end_s)
{
    const struct reading *begin = reading_at(begin_s), *end = reading_at(end_s);
    if (!loaded || !begin || !end)
        return 0;
    double no_core_s = waits ? end->delayed_s - begin->delayed_s : end_s - begin_s - (end->ran_s - begin->ran_s);
    return no_core_s < 0 ? 0 : no_core_s > end_s - begin_s ? end_s - begin_s : no_core_s;
}

/* Some arithmetic between two clock readings, so that a profile shows the caller and not only the vDSO. */
HELPER void spin_on_clock(double end_s)
{
    unsigned long state = 88172645463325252ul;
    do {
        for (int i = 0; i < 200; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            __asm__ volatile("" : "+r"(state));
        }
    } while (seconds_of(CLOCK_MONOTONIC) < end_s);
}

/* By CPU time it is not over before as much time has passed. The CPU clock is read no oftener: the kernel counts at each
 * reading, and by what it counts the tool tells when a thread got its core. */
HELPER void spin_until(double end_s)
{
    double now_s = loaded ? seconds_of(CLOCK_MONOTONIC) : 0;
    double cpu_end_s = loaded ? seconds_of(CLOCK_THREAD_CPUTIME_ID) + end_s - now_s : 0, left_s = 0;
    do {
        spin_on_clock(end_s);
        if (loaded)
            left_s = cpu_end_s - seconds_of(CLOCK_THREAD_CPUTIME_ID);
        end_s = seconds_of(CLOCK_MONOTONIC) + left_s;
    } while (left_s > 0);
}

static inline void record_interval(enum interval_kind kind, const char *function, const void *lock, double begin_s,
                                   double end_s)
{
    if (thread_number < 0)
        thread_number = __atomic_fetch_add(&thread_count, 1, __ATOMIC_RELAXED);
    int slot = __atomic_fetch_add(&interval_count, 1, __ATOMIC_RELAXED);
    if (slot >= MAX_INTERVALS || thread_number >= MAX_THREADS) {
        fprintf(stderr, "analytic.h: more intervals or threads than it has room for\n");
        abort();
    }
    struct interval *in = &intervals[slot];
    in->kind = kind;
    in->function = function;
    in->lock = lock;
    in->begin_s = begin_s;
    in->end_s = end_s;
    in->no_core_s = no_core_between(kind == INTERVAL_WAIT || kind >= INTERVAL_RUNTIME, begin_s, end_s);
    in->thread = thread_number;
    in->team = omp_get_num_threads();
}

/* The whole body of most named functions: spin and record it. */
HELPER void work_for(const char *function, double seconds)
{
    double begin_s = clock_s();
    spin_until(begin_s + seconds);
    record_interval(INTERVAL_WORK, function, NULL, begin_s, clock_s());
}

/* What a lock's user clocked: asked for it, got it, released it. */
HELPER void record_lock(const char *function, const void *lock, double asked_s, double got_s, double released_s)
{
    record_interval(INTERVAL_WAIT, function, lock, asked_s, got_s);
    record_interval(INTERVAL_HOLD, function, lock, got_s, released_s);
}

static inline struct blamed *blamed_row(const char *function)
{
    for (int i = 0; i < blamed_count; i++)
        if (strcmp(blamed[i].function, function) == 0)
            return &blamed[i];
    if (blamed_count == MAX_FUNCTIONS)
        abort();
    blamed[blamed_count].function = function;
    return &blamed[blamed_count++];
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline int compare_intervals(const void *a, const void *b)
{
    const struct interval *x = (const struct interval *)a, *y = (const struct interval *)b;
    if (x->thread != y->thread)
        return x->thread - y->thread;
    return (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s);
}

static inline void add_idleness(struct blamed *row, double dt, double threads, double team, double busy)
{
    row->idleness += dt * (threads / busy - 1);
    row->shared_idleness += dt * (team / busy - 1);
}

/* The part of dt in which the thread had no core and would have gone on with one: while it waits, when nobody has the lock. */
static inline double take_no_core(struct interval *in, const struct blamed *holder, double dt)
{
    if (in->kind != INTERVAL_WAIT)
        return in->no_core_s > 0 ? dt * in->no_core_s / (in->end_s - in->begin_s) : 0;
    double taken_s = holder ? 0 : in->no_core_s < dt ? in->no_core_s : dt;
    in->no_core_s -= taken_s;
    return taken_s;
}

static inline struct blamed *holder_of(struct interval *const *now, const void *lock)
{
    struct blamed *row = NULL;
    for (int j = 0; j < thread_count; j++)
        if (now[j] && now[j]->kind == INTERVAL_HOLD && now[j]->lock == lock)
            row = blamed_row(now[j]->function);
    return row;
}

static inline int core_count(void)
{
    static int cores;
    if (!cores)
        cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return cores;
}

/* Charges `dt` seconds in which the threads were in `now` (NULL: idle). */
static inline void sweep_step(struct interval *const *now, int threads_max, double dt)
{
    int busy = 0, run = 0;
    for (int i = 0; i < thread_count; i++) {
        busy += now[i] != NULL;
        run += now[i] && now[i]->kind <= INTERVAL_HOLD;
    }
    for (int i = 0; i < thread_count; i++) {
        if (!now[i])
            continue;
        if (now[i]->kind == INTERVAL_RUNTIME)
            continue; /* busy, and the runtime's own rows are not ours to predict */
        struct blamed *row = blamed_row(now[i]->function);
        if (now[i]->kind == INTERVAL_BLOCKED) {
            double lacked_dt = take_no_core(now[i], NULL, dt);
            row->no_core += lacked_dt;
            row->blocked += dt - lacked_dt;
            continue;
        }
        if (now[i]->kind <= INTERVAL_HOLD && run < core_count())
            row->core_idleness += dt * (core_count() - run) / run;
        struct blamed *holder = now[i]->kind == INTERVAL_WAIT ? holder_of(now, now[i]->lock) : NULL;
        double no_core_dt = take_no_core(now[i], holder, dt), core_dt = dt - no_core_dt;
        row->no_core += no_core_dt;
        add_idleness(row, no_core_dt, threads_max, now[i]->team, busy);
        if (now[i]->kind == INTERVAL_WAIT) {
            row->lock_wait_here += core_dt;
            row = holder;
            if (!row) /* between a release and the next acquisition: nobody's doing */
                continue;
            row->lock_wait += core_dt;
        } else {
            row->work += core_dt;
        }
        add_idleness(row, core_dt, threads_max, now[i]->team, busy);
    }
}

/* Exact integration over the elementary intervals between any two clock readings. */
static inline void sweep(int threads_max)
{
    int first[MAX_THREADS + 1];
    struct interval *now[MAX_THREADS];
    int edge_count = 2 * interval_count;
    double *edges = (double *)malloc((size_t)edge_count * sizeof *edges);
    for (int i = 0; i < interval_count; i++) {
        edges[2 * i] = intervals[i].begin_s;
        edges[2 * i + 1] = intervals[i].end_s;
    }
    qsort(edges, (size_t)edge_count, sizeof *edges, compare_doubles);
    qsort(intervals, (size_t)interval_count, sizeof *intervals, compare_intervals);
    for (int i = 0, t = 0; t <= thread_count; t++) {
        while (i < interval_count && intervals[i].thread < t)
            i++;
        first[t] = i;
    }
    int next[MAX_THREADS];
    memcpy(next, first, sizeof next);
    for (int e = 0; e + 1 < edge_count; e++) {
        double dt = edges[e + 1] - edges[e];
        if (dt <= 0)
            continue;
        for (int t = 0; t < thread_count; t++) {
            while (next[t] < first[t + 1] && intervals[next[t]].end_s <= edges[e])
                next[t]++;
            struct interval *in = &intervals[next[t]];
            now[t] = next[t] < first[t + 1] && in->begin_s <= edges[e] ? in : NULL;
        }
        sweep_step(now, threads_max, dt);
    }
    free(edges);
}

static inline void expect(const char *metric, const char *function, double seconds)
{
    printf("expect %s %s %.6f\n", metric, function, seconds);
}

static inline double recorded_work(const char *function)
{
    return blamed_row(function)->work;
}

/* Call it once, last, outside any region. `threads_max` is T: the most threads that ever existed at once. */
static inline void print_expectations(int threads_max)
{
    sweep(threads_max);
    for (int i = 0; i < blamed_count; i++) {
        const struct blamed *row = &blamed[i];
        expect("work", row->function, row->work);
        expect("idleness", row->function, row->idleness);
        if (loaded)
            expect("no_core", row->function, row->no_core);
        if (row->lock_wait > 0)
            expect("lock_wait", row->function, row->lock_wait);
        if (row->lock_wait_here > 0)
            expect("lock_wait_here", row->function, row->lock_wait_here);
    }
}

/* Of a program without a region: cores, not threads, are idle because of what runs. */
static inline void print_thread_expectations(void)
{
    sweep(1);
    for (int i = 0; i < blamed_count; i++) {
        const struct blamed *row = &blamed[i];
        const struct {
            const char *metric;
            double seconds;
        } of[] = {{"work", row->work},           {"core_idleness", row->core_idleness},
                  {"lock_wait", row->lock_wait}, {"lock_wait_here", row->lock_wait_here},
                  {"blocked", row->blocked},     {"no_core", loaded ? row->no_core : 0}};
        for (unsigned j = 0; j < sizeof of / sizeof *of; j++)
            if (of[j].seconds > 0)
                expect(of[j].metric, row->function, of[j].seconds);
    }
}

/* Only for programs without nesting: there the team's size is the number of threads in use. */
static inline void print_shared_expectations(void)
{
    for (int i = 0; i < blamed_count; i++)
        expect("shared_idleness", blamed[i].function, blamed[i].shared_idleness);
}

#endif
