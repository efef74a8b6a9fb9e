/* One construct at a time that makes a thread wait, with blame known by construction
 * (tests/programs/analytic.h).
 *
 *     waits CONSTRUCT [THREADS]      default: 2 threads
 *
 * Every construct runs often enough for some 0.6 s. What a thread does in the runtime while it does not wait
 * is not recorded, and counts as idle in the expectations: microseconds a construct. */
#include "../programs/analytic.h"

static int threads = 2;
static int volatile sink;

NAMED static void slow(void)
{
    work_for("slow", 0.0607);
}

NAMED static void fast(void)
{
    work_for("fast", 0.0211);
}

NAMED static void after(void)
{
    work_for("after", 0.0109);
}

HELPER void uneven(int number)
{
    if (number % 2 == 0)
        slow();
    else
        fast();
}

HELPER void last_is_slow(int iteration)
{
    if (iteration == 2 * threads)
        slow();
    else
        fast();
}

NAMED static void for_static(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp for schedule(static, 1)
        for (int i = 0; i < threads; i++)
            uneven(i);
    }
}

/* The last iteration is the longest: whoever takes it, the others have nothing left. */
NAMED static void for_dynamic(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i <= 2 * threads; i++)
            last_is_slow(i);
    }
}

NAMED static void sections(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp sections
        {
#pragma omp section
            slow();
#pragma omp section
            fast();
        }
    }
}

NAMED static void single(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp single
        slow();
        fast();
        __asm__ volatile(""); /* no tail call */
    }
}

NAMED static void master(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp master
        slow();
#pragma omp barrier
        fast();
        __asm__ volatile("");
    }
}

NAMED static void barrier(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
        uneven(omp_get_thread_num());
#pragma omp barrier
        after();
        __asm__ volatile("");
    }
}

/* The runtime combines the sums in a barrier, an atomic or a section of its own: the slow share is what
 * others wait for. */
NAMED static void reduction(void)
{
    int sum = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp for schedule(static, 1) reduction(+ : sum)
        for (int i = 0; i < threads; i++) {
            uneven(i);
            sum += i;
        }
    }
    sink = sum;
}

NAMED static void taskloop(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp single
        {
#pragma omp taskloop grainsize(1)
            for (int i = 0; i <= 2 * threads; i++)
                last_is_slow(i);
        }
    }
}

/* A chain of two tasks, and one beside it: the second link cannot start before the first has ended. */
NAMED static void depend(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp single
        {
            __attribute__((unused)) int link = 0; /* GCC does not count a depend clause as a use */
#pragma omp task depend(out : link) shared(link)
            slow();
#pragma omp task depend(inout : link) shared(link)
            after();
#pragma omp task
            fast();
#pragma omp taskwait
        }
    }
}

/* It waits for the one task alone, and does the other meanwhile. */
NAMED static void taskwait_depend(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
#pragma omp single
        {
            __attribute__((unused)) int link = 0; /* GCC does not count a depend clause as a use */
#pragma omp task depend(out : link) shared(link)
            slow();
#pragma omp task
            fast();
#pragma omp taskwait depend(in : link)
            after();
        }
    }
}

static const char atomic_lock;

/* What GCC emits around an update that the processor cannot do atomically (a long double, say). The compiler
 * never puts more than the update itself between the two calls, so a test that wants the lock to be held for
 * long calls them itself. */
extern void GOMP_atomic_start(void);
extern void GOMP_atomic_end(void);

NAMED static void atomic_update(double hold_s)
{
    double asked_s = clock_s();
    GOMP_atomic_start();
    double got_s = clock_s();
    spin_until(got_s + hold_s);
    GOMP_atomic_end();
    record_lock("atomic_update", &atomic_lock, asked_s, got_s, clock_s());
}

NAMED static void atomic(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
        atomic_update(0.0403);
        __asm__ volatile("");
    }
}

/* A combiner that takes its time: libomp guards it by a critical section, where the second thread waits. The
 * release is in the region's own body, so the waiting is stated of the function around it. */
static const char combiner_lock;
static double share_end_s[MAX_THREADS];

NAMED static void combine(int *out, const int *in)
{
    double begin_s = clock_s();
    spin_until(begin_s + 0.0403);
    *out += *in;
    record_lock("combine", &combiner_lock, share_end_s[omp_get_thread_num()], begin_s, clock_s());
}

#pragma omp declare reduction(slowly:int : combine(&omp_out, &omp_in)) initializer(omp_priv = 0)

NAMED static void combiner(void)
{
    int sum = 0;
#pragma omp parallel num_threads(threads) reduction(slowly : sum)
    {
#pragma omp barrier
        fast();
        sum += 1;
        share_end_s[omp_get_thread_num()] = clock_s();
    }
    sink = sum;
}

/* In place of print_expectations(): two threads. */
static void print_combiner(void)
{
    sweep(2);
    const struct blamed *row = blamed_row("combine");
    expect("work", "combine", row->work);
    expect("idleness", "combine", row->idleness);
    expect("lock_wait", "combiner", row->lock_wait);
    expect("lock_wait_here", "combiner", row->lock_wait_here);
}

static const struct construct {
    const char *name;
    void (*run)(void);
    int repetitions;
} constructs[] = {
    {"for_static", for_static, 10}, {"for_dynamic", for_dynamic, 8},
    {"sections", sections, 10},     {"single", single, 8},
    {"master", master, 8},          {"barrier", barrier, 8},
    {"reduction", reduction, 10},   {"taskloop", taskloop, 7},
    {"depend", depend, 8},          {"taskwait_depend", taskwait_depend, 8},
    {"atomic", atomic, 8},          {"combiner", combiner, 6},
};

int main(int argc, char **argv)
{
    if (argc > 2)
        threads = atoi(argv[2]);
    for (size_t i = 0; i < sizeof constructs / sizeof constructs[0]; i++) {
        const struct construct *construct = &constructs[i];
        if (argc < 2 || strcmp(argv[1], construct->name) != 0 || threads < 2 || threads > MAX_THREADS)
            continue;
        for (int repetition = 0; repetition < construct->repetitions; repetition++)
            construct->run();
        if (construct->run == combiner && threads == 2) {
            print_combiner();
        } else {
            print_expectations(threads);
            print_shared_expectations();
        }
        return 0;
    }
    fprintf(stderr, "usage: waits CONSTRUCT [THREADS]\n");
    return 2;
}
