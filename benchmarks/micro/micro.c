/* Measures the time of common OpenMP constructs in ns. The method is that of the EPCC OpenMP
 * micro-benchmarks, but the code is new. Empty constructs are timed in batches of about 100 us. The result is
 * that of the fastest of many batches, because whatever slows a batch down (another program, an interrupt)
 * has nothing to do with the construct. Prints a line `construct threads nanoseconds` for each construct.
 * Usage: micro [batches [construct ...]] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <omp.h>

#define BATCH_NS 100000.0
/* time limit in ns for all batches of a construct, which are slow if other programs delay the threads */
#define LONGEST_NS  100000000.0
#define LEAST       3 /* batches */
#define MAX_COUNT   (1 << 16)
#define MAX_THREADS 64
/* number of tasks created before each taskwait, less than the runtime's queue can hold */
#define TASKS 64

/* A lock for each thread, on a cache line of its own. */
static struct {
    omp_lock_t lock;
    char padding[256 - sizeof(omp_lock_t)];
} locks[MAX_THREADS];

static int batches = 300;

static double micro_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Does nothing. The compiler can neither remove nor move the call. */
static inline void micro_nothing(void)
{
    __asm__ volatile("" ::: "memory");
}

static void micro_do_parallel(int count)
{
    for (int i = 0; i < count; i++) {
#pragma omp parallel
        micro_nothing();
    }
}

static void micro_do_barrier(int count)
{
    for (int i = 0; i < count; i++) {
#pragma omp barrier
    }
}

static void micro_do_for(int count)
{
    int threads = omp_get_num_threads();
    for (int i = 0; i < count; i++) {
#pragma omp for schedule(static)
        for (int j = 0; j < threads; j++)
            micro_nothing();
    }
}

static void micro_do_critical(int count)
{
    for (int i = 0; i < count; i++) {
#pragma omp critical(micro)
        micro_nothing();
    }
}

static void micro_do_lock(int count)
{
    omp_lock_t *lock = &locks[omp_get_thread_num()].lock;
    for (int i = 0; i < count; i++) {
        omp_set_lock(lock);
        micro_nothing();
        omp_unset_lock(lock);
    }
}

/* Runs a loop of `count` ordered iterations, each of which waits for the one before. */
static void micro_do_ordered(int count)
{
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < count; i++) {
#pragma omp ordered
        micro_nothing();
    }
}

static void micro_do_task(int count)
{
    for (int i = 0; i < count; i += TASKS) {
        for (int j = 0; j < TASKS; j++) {
#pragma omp task
            micro_nothing();
        }
#pragma omp taskwait
    }
}

static void micro_do_taskwait(int count)
{
    for (int i = 0; i < count; i++) {
#pragma omp taskwait
    }
}

static const struct construct {
    const char *name;
    void (*run)(int count);
    int in_region; /* whether the construct is executed by all threads of a region that already runs */
} constructs[] = {
    {"parallel", micro_do_parallel, 0}, {"barrier", micro_do_barrier, 1},   {"for", micro_do_for, 1},
    {"critical", micro_do_critical, 1}, {"lock", micro_do_lock, 1},         {"ordered", micro_do_ordered, 1},
    {"task", micro_do_task, 1},         {"taskwait", micro_do_taskwait, 1},
};

#define CONSTRUCTS (sizeof(constructs) / sizeof(constructs[0]))

/* Returns the time in ns from when all threads are ready to when all have finished. It includes two barriers,
 * whose cost is shared by all constructs of the batch. */
static double micro_time_in_region(const struct construct *construct, int count)
{
    double begin_ns = 0;
#pragma omp barrier
#pragma omp master
    begin_ns = micro_now_ns();
    construct->run(count);
#pragma omp barrier
    return micro_now_ns() - begin_ns; /* only the value of the primary thread is used */
}

static double micro_time_batch(const struct construct *construct, int count)
{
    double ns = 0;
    if (!construct->in_region) {
        double begin_ns = micro_now_ns();
        construct->run(count);
        return micro_now_ns() - begin_ns;
    }
#pragma omp parallel
    {
        double mine = micro_time_in_region(construct, count);
#pragma omp master
        ns = mine;
    }
    return ns;
}

static double micro_least_of(const struct construct *construct, int count, int tries)
{
    double least_ns = micro_time_batch(construct, count), end_ns = micro_now_ns() + LONGEST_NS;
    for (int i = 1; i < tries && (i < LEAST || micro_now_ns() < end_ns); i++) {
        double ns = micro_time_batch(construct, count);
        if (ns < least_ns)
            least_ns = ns;
    }
    return least_ns;
}

/* Returns how many constructs a batch has, which is a multiple of TASKS. */
static int micro_choose_count(const struct construct *construct)
{
    int count = TASKS;
    while (count < MAX_COUNT && micro_least_of(construct, count, 5) < BATCH_NS)
        count *= 2;
    return count;
}

static void micro_measure(const struct construct *construct)
{
    int count = micro_choose_count(construct);
    double least_ns = micro_least_of(construct, count, batches);
    printf("%s %d %.3f\n", construct->name, omp_get_max_threads(), least_ns / count);
}

static int micro_is_asked(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc <= 2;
}

static int micro_is_known(const char *name)
{
    for (size_t i = 0; i < CONSTRUCTS; i++)
        if (strcmp(constructs[i].name, name) == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        batches = atoi(argv[1]);
    for (int i = 2; i < argc; i++)
        if (!micro_is_known(argv[i]))
            batches = 0;
    if (batches < 1 || omp_get_max_threads() > MAX_THREADS) {
        fputs("usage: micro [batches [construct ...]]; at most 64 threads; constructs:", stderr);
        for (size_t i = 0; i < CONSTRUCTS; i++)
            fprintf(stderr, " %s", constructs[i].name);
        fputs("\n", stderr);
        return 2;
    }
    for (int i = 0; i < MAX_THREADS; i++)
        omp_init_lock(&locks[i].lock);
    for (size_t i = 0; i < CONSTRUCTS; i++)
        if (micro_is_asked(constructs[i].name, argc, argv))
            micro_measure(&constructs[i]);
    for (int i = 0; i < MAX_THREADS; i++)
        omp_destroy_lock(&locks[i].lock);
    return 0;
}
