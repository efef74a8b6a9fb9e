/* Programs that lose time for one known cause each, with the fix that the finding advises:
 *
 *     advice list                            name, rules, place and words of each program's right finding
 *     advice CASE THREADS before|after       runs the program as it was, or as it is with the fix
 *
 * Both versions do the same work, in arithmetic and not by the clock, so a fix shortens the run by what it saves.
 * Compiled by clang and by gcc; advice.py runs it. */
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "work.h"

#ifdef __clang__
#define CHUNKS 6000000
#else
#define CHUNKS 30000000 /* GCC's runtime hands them out much faster */
#endif

/* Returns one of two numbers of tiny pieces: the smaller one for busy machines, where each can take a millisecond. */
static int many(int pieces, int fewer)
{
    return getenv("ADVICE_FEWER") ? fewer : pieces;
}

NAMED static void serial(void)
{
    even(WHOLE / 2);
    if (fixed) {
        even(WHOLE / 2);
        return;
    }
    for (int i = 0; i < PIECES; i++)
        work(WHOLE / 2.0 / PIECES);
}

/* The last thread's iterations take four times as long as the others'. */
NAMED static void unequal(void)
{
    int count = 100 * threads;
    double unit = WHOLE / (count + 3.0 * count / threads);
    omp_set_schedule(fixed ? omp_sched_dynamic : omp_sched_static, fixed);
#pragma omp parallel for num_threads(threads) schedule(runtime)
    for (int i = 0; i < count; i++)
        work(unit * (i >= count - count / threads ? 4 : 1));
}

NAMED static void triangle(void)
{
    omp_set_schedule(fixed ? omp_sched_dynamic : omp_sched_static, fixed);
#pragma omp parallel for num_threads(threads) schedule(runtime)
    for (int i = 0; i < PIECES; i++)
        work(2.0 * WHOLE * i / PIECES / PIECES);
}

NAMED static void big_chunks(void)
{
    omp_set_schedule(omp_sched_dynamic, fixed ? 4 : PIECES - PIECES / (2 * threads));
#pragma omp parallel for num_threads(threads) schedule(runtime)
    for (int i = 0; i < PIECES; i++)
        work((double)WHOLE / PIECES);
}

NAMED static void by_number(void)
{
#pragma omp parallel num_threads(threads)
    {
        int number = omp_get_thread_num();
        double share = fixed ? 1.0 / threads : number == 0 ? 0.7 : 0.3 / (threads - 1);
        for (int i = 0; i < PIECES; i++)
            work(WHOLE * share / PIECES);
    }
}

NAMED static void few_iterations(void)
{
    int count = fixed ? 40 * threads : threads + 1;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < count; i++)
        work((double)WHOLE / count);
}

NAMED static void two_sections(void)
{
    if (fixed) {
        even(WHOLE);
        return;
    }
#pragma omp parallel sections num_threads(threads)
    {
        work(WHOLE * 0.8);
#pragma omp section
        work(WHOLE * 0.2);
    }
}

NAMED static void in_single(void)
{
#pragma omp parallel num_threads(threads)
    {
        if (fixed) {
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < PIECES; i++)
                work(WHOLE * 0.5 / PIECES);
        } else {
#pragma omp single
            work(WHOLE * 0.5);
        }
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < PIECES; i++)
            work(WHOLE * 0.5 / PIECES);
    }
}

NAMED static void prepare(void)
{
    work(WHOLE * 0.5);
}

NAMED static void in_masked(void)
{
#pragma omp parallel num_threads(threads)
    {
        if (fixed) {
#pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < PIECES; i++)
                work(WHOLE * 0.5 / PIECES);
        } else if (omp_get_thread_num() == 0) {
            prepare();
        }
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < PIECES; i++)
            work(WHOLE * 0.5 / PIECES);
    }
}

NAMED static void read_input(void)
{
    nap(WHOLE * 0.4);
}

/* Fixed: the others begin the loop meanwhile. */
NAMED static void blocked_in_region(void)
{
#pragma omp parallel num_threads(threads)
    {
        if (omp_get_thread_num() == 0)
            read_input();
        if (!fixed) {
#pragma omp barrier
        }
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < PIECES; i++)
            work((double)WHOLE / PIECES);
    }
}

NAMED static void tiny_chunks(void)
{
    int count = many(CHUNKS, CHUNKS / 2);
    omp_set_schedule(omp_sched_dynamic, fixed ? 1000 : 1);
#pragma omp parallel for num_threads(threads) schedule(runtime)
    for (int i = 0; i < count; i++)
        work(0.05);
}

NAMED static void tiny_regions(void)
{
    int steps = many(300000, 30000);
    if (fixed) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int i = 0; i < steps * threads; i++)
            work(1);
        return;
    }
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int i = 0; i < threads; i++)
            work(1);
    }
}

NAMED static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
    if (fixed && n < 18)
        return fib(n - 1) + fib(n - 2);
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

NAMED static void tiny_tasks(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    sink = (double)fib(many(30, 27));
}

NAMED static void barriers(void)
{
    int count = many(500000, 50000);
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < count; i++) {
        work(0.5);
        if (!fixed) {
#pragma omp barrier
        }
    }
}

NAMED static void few_tasks(void)
{
    int count = fixed ? 20 * threads : threads / 2;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < count; i++) {
#pragma omp task
        work((double)WHOLE / count);
    }
}

/* One thread prepares each task itself. Fixed: the preparation is in the task. */
NAMED static void slow_creation(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < PIECES; i++) {
        if (!fixed)
            work(WHOLE * 0.7 / PIECES);
#pragma omp task
        {
            if (fixed)
                work(WHOLE * 0.7 / PIECES);
            work(WHOLE * 0.3 / PIECES);
        }
    }
}

/* The threads of LLVM's runtime take the newest of their own tasks, and the oldest of the others', so that they begin
 * the last task where these meet. */
NAMED static void long_last_task(void)
{
    int count = 40;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < count; i++) {
        bool is_long = i == (fixed ? 0 : count * (threads - 1) / threads);
#pragma omp task firstprivate(is_long)
        work(is_long ? WHOLE * 0.4 : WHOLE * 0.6 / (count - 1));
    }
}

NAMED static void chain(void)
{
    int link[64] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < PIECES; i++) {
        int number = fixed ? i % 64 : 0;
#pragma omp task depend(inout : link[number])
        work((double)WHOLE / PIECES);
    }
    (void)link;
}

static double table[64][8];

NAMED static void critical(void)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < PIECES; i++) {
        if (fixed)
            work(WHOLE * 0.8 / PIECES);
#pragma omp critical(table)
        {
            if (!fixed)
                work(WHOLE * 0.8 / PIECES);
            table[0][0] += i;
        }
        work(WHOLE * 0.2 / PIECES);
    }
}

/* Fixed: one lock for each part of the data. */
NAMED static void one_lock(void)
{
    static omp_lock_t locks[64];
    for (int i = 0; i < 64; i++)
        omp_init_lock(&locks[i]);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < PIECES; i++) {
        int part = fixed ? i % 64 : 0;
        omp_set_lock(&locks[part]);
        work((double)WHOLE / PIECES);
        table[part][0] += i;
        omp_unset_lock(&locks[part]);
    }
}

NAMED static void often_locked(void)
{
    double sum = 0;
    int count = many(6000000, 2000000);
#pragma omp parallel num_threads(threads)
    {
        double own = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < count; i++) {
            work(0.05);
            if (fixed) {
                own += i;
                continue;
            }
#pragma omp critical(sum)
            sum += i;
        }
#pragma omp critical(own)
        sum += own;
    }
    sink = sum;
}

/* Fixed: each thread adds to a variable of its own. */
NAMED static void atomic_update(void)
{
    long sum = 0;
    int count = many(40000000, 10000000);
#pragma omp parallel num_threads(threads)
    {
        long own = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < count; i++) {
            if (fixed) {
                own += i;
                __asm__ volatile("" : "+r"(own));
                continue;
            }
#pragma omp atomic
            sum += i;
        }
#pragma omp atomic
        sum += own;
    }
    sink = (double)sum;
}

#define BINS 200000

static double bins[BINS];

NAMED static void add_up(int from, int count)
{
#pragma omp parallel for num_threads(threads) reduction(+ : bins[ : BINS]) schedule(static)
    for (int i = from; i < from + count; i++)
        bins[i % BINS] += i / (1.0 + bins[i % BINS]);
}

/* Fixed: one region for all steps. */
NAMED static void array_reduction(void)
{
    int steps = many(600, 200), each = 20000;
    for (int step = 0; step < (fixed ? 1 : steps); step++)
        add_up(step * each, fixed ? steps * each : each);
}

NAMED static void ordered(void)
{
#pragma omp parallel for num_threads(threads) ordered schedule(static, 1)
    for (int i = 0; i < PIECES; i++) {
        if (fixed)
            work((double)WHOLE / PIECES);
#pragma omp ordered
        {
            if (!fixed)
                work((double)WHOLE / PIECES);
            table[1][0] += i;
        }
    }
}

NAMED static void one_thread(void)
{
    even(WHOLE * 0.3);
#pragma omp parallel for num_threads(threads) if (fixed) schedule(static)
    for (int i = 0; i < PIECES; i++)
        work(WHOLE * 0.7 / PIECES);
}

NAMED static void nested_narrow(void)
{
    even(WHOLE * 0.3);
#pragma omp parallel for num_threads(fixed ? threads : 1) schedule(static)
    for (int i = 0; i < PIECES; i++)
        work(WHOLE * 0.7 / PIECES);
}

NAMED static void touch(char *memory, long bytes)
{
#pragma omp parallel for num_threads(threads) if (fixed) schedule(static)
    for (long i = 0; i < bytes; i += 4096)
        memory[i] = 1;
}

NAMED static void first_touch(void)
{
    long bytes = 600l << 20;
    char *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(3);
    madvise(memory, (size_t)bytes, MADV_NOHUGEPAGE);
    touch(memory, bytes);
    even(WHOLE / 2);
    munmap(memory, (size_t)bytes);
}

static volatile int ready;

/* The others wait for a flag in a loop of their own. Fixed: they do their part of the work meanwhile. */
NAMED static void wait_for_flag(void)
{
    while (!ready) {
#pragma omp flush
    }
}

NAMED static void flag(void)
{
    ready = 0;
    if (fixed) {
        even(WHOLE);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        if (omp_get_thread_num() == 0) {
            work(WHOLE * 0.7);
            ready = 1;
        } else {
            wait_for_flag();
        }
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < PIECES; i++)
            work(WHOLE * 0.3 / PIECES);
    }
}

NAMED static void balanced(void)
{
    even(WHOLE);
}

/* GCC does not report static loops to the runtime, so that their threads may have unequal work or too few iterations. */
static const struct advice_case cases[] = {
    {"serial", serial, "serial", "serial", "serial"},
    {"unequal", unequal, "imbalance", "unequal [", "dynamic"},
    {"triangle", triangle, "imbalance", "triangle [", "dynamic"},
    {"big chunks", big_chunks, "imbalance", "big_chunks [", "smaller chunks"},
    {"by number", by_number, "imbalance", "by_number [", "equal shares"},
    {"few iterations", few_iterations, "coarse imbalance", "few_iterations [", "too few iterations"},
    {"two sections", two_sections, "coarse", "two_sections [", "section"},
    {"in single", in_single, "coarse", "in_single [", "single"},
    {"in masked", in_masked, "coarse", "prepare", "single"},
    {"blocked in region", blocked_in_region, "coarse blocked", "read_input", "verlap"},
    {"tiny chunks", tiny_chunks, "fine", "tiny_chunks [", "larger chunks"},
    {"tiny regions", tiny_regions, "fine", "tiny_regions", "regions"},
    {"tiny tasks", tiny_tasks, "fine", "fib", "larger tasks"},
    {"barriers", barriers, "fine", "barriers [", "barriers"},
    {"few tasks", few_tasks, "task-starved", "few_tasks [", "smaller tasks"},
    {"slow creation", slow_creation, "task-starved", "slow_creation [", "create tasks"},
    {"long last task", long_last_task, "task-starved", "long_last_task [", "long tasks first"},
    {"chain", chain, "task-starved", "chain [", "dependences"},
    {"critical", critical, "lock-bound", "critical [", "table"},
    {"one lock", one_lock, "lock-bound", "one_lock [", "one lock for each part"},
    {"often locked", often_locked, "lock-bound fine", "often_locked [", "private"},
    {"atomic", atomic_update, "atomic", "atomic_update [", "reduction"},
    {"array reduction", array_reduction, "reduction", "add_up [", "Reduce fewer times"},
    {"ordered", ordered, "lock-bound", "ordered [", "ordered"},
    {"one thread", one_thread, "serial narrow", "one_thread", "thread"},
    {"narrow", nested_narrow, "serial narrow", "nested_narrow", "thread"},
    {"first touch", first_touch, "serial narrow", "touch", "thread"},
    {"flag", flag, "spin coarse imbalance", "wait_for_flag", "flag"},
    {"balanced", balanced, "-", "", ""},
};

int main(int argc, char **argv)
{
    return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}
