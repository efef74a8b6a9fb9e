/* One program for each cause of lost time, with the finding that is right for it: `causes list` prints them.
 *
 *     causes CASE THREADS
 *
 * Work is spinning until a time by the clock, so that who is busy when does not depend on the machine. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMED __attribute__((noinline))
#define WHOLE 0.16 /* seconds of a case */
#define UNIT  0.0005

static int threads;
static volatile double sink;

/* No function, inlined or not: the line that is found is the case's. */
#define READ_CLOCK(to)                                                                                                 \
    do {                                                                                                               \
        struct timespec now_;                                                                                          \
        clock_gettime(CLOCK_MONOTONIC, &now_);                                                                         \
        (to) = (double)now_.tv_sec + 1e-9 * (double)now_.tv_nsec;                                                      \
    } while (0)
#define BURN(seconds)                                                                                                  \
    do {                                                                                                               \
        double time_, end_;                                                                                            \
        READ_CLOCK(time_);                                                                                             \
        end_ = time_ + (seconds);                                                                                      \
        while (time_ < end_) {                                                                                         \
            for (int spin_ = 0; spin_ < 300; spin_++)                                                                  \
                __asm__ volatile("");                                                                                  \
            READ_CLOCK(time_);                                                                                         \
        }                                                                                                              \
    } while (0)

#define BURN_UNTIL(end)                                                                                                \
    do {                                                                                                               \
        double now_s_;                                                                                                 \
        do                                                                                                             \
            READ_CLOCK(now_s_);                                                                                        \
        while (now_s_ < (end));                                                                                        \
    } while (0)

/* All until the same moment: nobody is late that has a core. */
NAMED static void all_together(double seconds)
{
    double end;
    READ_CLOCK(end);
    end += seconds;
#pragma omp parallel num_threads(threads)
    BURN_UNTIL(end);
}

NAMED static void serial(void)
{
    BURN(WHOLE / 2);
}

NAMED static void blocked_serial(void)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(WHOLE / 2 * 1e9)}, NULL);
}

#define PIECES(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9)
#define PIECE(n)                                                                                                       \
    NAMED static void small_a##n(void)                                                                                 \
    {                                                                                                                  \
        BURN(WHOLE / 40);                                                                                              \
    }                                                                                                                  \
    NAMED static void small_b##n(void)                                                                                 \
    {                                                                                                                  \
        BURN(WHOLE / 40);                                                                                              \
    }                                                                                                                  \
    NAMED static void small_c##n(void)                                                                                 \
    {                                                                                                                  \
        BURN(WHOLE / 40);                                                                                              \
    }
#define CALL(n) small_a##n(), small_b##n(), small_c##n();
PIECES(PIECE)

NAMED static void pieces(void){PIECES(CALL)}

/* The last thread's iterations take `ratio` times as long as the others'. */
NAMED static void unequal(int ratio)
{
    int count = 48 * threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < count; i++)
        BURN(WHOLE / 48 * (i >= count - count / threads ? 1.0 : 1.0 / ratio));
}

static void unequal_2(void)
{
    unequal(2);
}
static void unequal_4(void)
{
    unequal(4);
}
static void unequal_8(void)
{
    unequal(8);
}

NAMED static void triangle(void)
{
    int count = 32 * threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < count; i++)
        BURN(WHOLE / 32 * i / count);
}

NAMED static void big_chunks(void)
{
    int count = 32 * threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, count - 2)
    for (int i = 0; i < count; i++)
        BURN(WHOLE / count);
}

NAMED static void by_number(void)
{
#pragma omp parallel num_threads(threads)
    BURN(omp_get_thread_num() ? WHOLE / 6 : WHOLE);
}

NAMED static void few_iterations(void)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < threads * 2 / 3; i++)
        BURN(WHOLE);
}

NAMED static void one_too_many(void)
{
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < threads + 1; i++)
        BURN(WHOLE / 2);
}

NAMED static void few_sections(void)
{
#pragma omp parallel sections num_threads(threads)
    {
        BURN(WHOLE);
#pragma omp section
        BURN(threads > 2 ? WHOLE : WHOLE / 8);
    }
}

NAMED static void in_single(void)
{
#pragma omp parallel num_threads(threads)
    {
#pragma omp single
        BURN(WHOLE * 2 / 3);
        BURN(WHOLE / 3);
    }
}

NAMED static void prepare(void)
{
    BURN(WHOLE * 2 / 3);
}

NAMED static void in_masked(void)
{
#pragma omp parallel num_threads(threads)
    {
        if (omp_get_thread_num() == 0)
            prepare();
#pragma omp barrier
        BURN(WHOLE / 3);
    }
}

NAMED static void wait_for_data(void)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(WHOLE * 2 / 3 * 1e9)}, NULL);
}

NAMED static void blocked_in_region(void)
{
#pragma omp parallel num_threads(threads)
    {
        if (omp_get_thread_num() == 0)
            wait_for_data();
#pragma omp barrier
        BURN(WHOLE / 3);
    }
}

NAMED static void tiny_chunks(void)
{
    double now, end;
    READ_CLOCK(now);
    for (end = now + WHOLE; now < end;) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int i = 0; i < 100000; i++)
            sink = i;
        READ_CLOCK(now);
    }
}

NAMED static void tiny_regions(void)
{
    double now, end;
    READ_CLOCK(now);
    for (end = now + WHOLE; now < end;) {
#pragma omp parallel num_threads(threads)
        __asm__ volatile("");
        READ_CLOCK(now);
    }
}

NAMED static long tiny_tasks_below(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = tiny_tasks_below(n - 1);
#pragma omp task shared(b)
    b = tiny_tasks_below(n - 2);
#pragma omp taskwait
    return a + b;
}

NAMED static void tiny_tasks(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        double now, end;
        READ_CLOCK(now);
        for (end = now + WHOLE; now < end;) {
            sink = (double)tiny_tasks_below(16);
            READ_CLOCK(now);
        }
    }
}

NAMED static void barriers(void)
{
    double end, now;
    int done = 0;
    READ_CLOCK(end);
    end += WHOLE;
#pragma omp parallel num_threads(threads) private(now)
    while (!done) {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            READ_CLOCK(now);
            done = now > end;
        }
#pragma omp barrier
    }
}

NAMED static void few_tasks(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < threads / 2; i++) {
#pragma omp task
        BURN(WHOLE);
    }
}

NAMED static void slow_creation(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < 40; i++) {
        BURN(WHOLE / 40);
#pragma omp task
        BURN(WHOLE / 400);
    }
}

NAMED static void long_last_task(void)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i <= 2 * threads; i++) {
#pragma omp task firstprivate(i)
        BURN(i < 2 * threads ? WHOLE / 20 : WHOLE);
    }
}

NAMED static void chain(void)
{
    int link = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : link)
        BURN(WHOLE / 20);
    }
    (void)link;
}

NAMED static void critical(void)
{
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 40; i++) {
#pragma omp critical(table)
        BURN(WHOLE / 40 / threads);
    }
}

NAMED static void locked(void)
{
    static omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 40; i++) {
        omp_set_lock(&lock);
        BURN(WHOLE / 40 / threads);
        omp_unset_lock(&lock);
        BURN(UNIT);
    }
}

NAMED static void keep_lock(omp_lock_t *lock)
{
    omp_set_lock(lock);
    BURN(WHOLE);
    omp_unset_lock(lock);
}

NAMED static void held_long(void)
{
    static omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
    if (omp_get_thread_num() == 0) {
        keep_lock(&lock);
    } else {
        BURN(UNIT);
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
    }
}

NAMED static void ordered(void)
{
#pragma omp parallel for num_threads(threads) ordered schedule(static, 1)
    for (int i = 0; i < 40; i++) {
#pragma omp ordered
        BURN(WHOLE / 40);
    }
}

/* As many threads as cores are busy, or more: a nested team that fits was there before. */
NAMED static void nested_full(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(threads)
    {
        BURN(WHOLE / 2);
#pragma omp parallel num_threads(2)
        BURN(WHOLE / 2);
    }
}

NAMED static void nested_narrow(void)
{
    all_together(WHOLE / 3);
#pragma omp parallel num_threads(1)
    {
#pragma omp parallel num_threads(1)
        BURN(WHOLE * 2 / 3);
    }
}

NAMED static void balanced(void)
{
    for (int i = 0; i < 4; i++)
        all_together(WHOLE / 4);
}

NAMED static void early(void)
{
    BURN(WHOLE);
}

/* rule: "-": none is right. place: how the finding's place begins. words: in its title or advice. */
static const struct {
    const char *name;
    void (*run)(void);
    const char *rule, *place, *words;
} cases[] = {
    {"serial", serial, "serial", "serial", "serial code"},
    {"pieces", pieces, "serial", "pieces", "in small pieces"},
    {"blocked serial", blocked_serial, "serial", "blocked_serial", "needs no core"},
    {"start-up", NULL, "start-up", "<before OpenMP start>", "before OpenMP"},
    {"unequal 1:2", unequal_2, "imbalance", "unequal [", "dynamic"},
    {"unequal 1:4", unequal_4, "imbalance", "unequal [", "dynamic"},
    {"unequal 1:8", unequal_8, "imbalance", "unequal [", "dynamic"},
    {"triangle", triangle, "imbalance", "triangle [", "dynamic"},
    {"big chunks", big_chunks, "imbalance", "big_chunks [", "smaller chunks"},
    {"by number", by_number, "imbalance", "by_number [", "equal shares"},
    {"few iterations", few_iterations, "coarse", "few_iterations [", "too few iterations"},
    {"one too many", one_too_many, "coarse", "one_too_many [", "too few iterations"},
    {"few sections", few_sections, "coarse", "few_sections [", "sections"},
    {"in single", in_single, "coarse", "in_single [", "less in single"},
    {"in masked", in_masked, "coarse", "prepare", "less in single"},
    {"blocked in region", blocked_in_region, "coarse", "wait_for_data", "needs no core"},
    {"tiny chunks", tiny_chunks, "fine", "tiny_chunks [", "larger chunks"},
    {"tiny regions", tiny_regions, "fine", "tiny_regions", "fewer regions"},
    {"tiny tasks", tiny_tasks, "fine", "tiny_tasks_below", "larger tasks"},
    {"barriers", barriers, "fine", "barriers [", "barriers"},
    {"few tasks", few_tasks, "task-starved", "few_tasks [", "smaller tasks"},
    {"slow creation", slow_creation, "task-starved", "slow_creation [", "several threads create tasks"},
    {"long last task", long_last_task, "task-starved", "long_last_task [", "start long tasks first"},
    {"chain", chain, "task-starved", "chain [", "dependences"},
    {"critical", critical, "lock-bound", "critical [", "table"},
    {"locked", locked, "lock-bound", "locked [", "lock"},
    {"held long", held_long, "lock-bound", "keep_lock", "Do less while holding the lock"},
    {"ordered", ordered, "lock-bound", "ordered [", "ordered"},
    {"nested, full", nested_full, "oversubscribed", "", "busy threads at a time"},
    {"nested, narrow", nested_narrow, "narrow", "nested_narrow [", "more threads take part"},
    {"balanced", balanced, "-", "", ""},
};

int main(int argc, char **argv)
{
    size_t count = sizeof cases / sizeof *cases;
    for (size_t i = 0; argc == 2 && i < count; i++)
        printf("%s\t%s\t%s\t%s\n", cases[i].name, cases[i].rule, cases[i].place, cases[i].words);
    for (size_t i = 0; argc == 3 && i < count; i++) {
        if (strcmp(argv[1], cases[i].name) != 0)
            continue;
        threads = atoi(argv[2]);
        if (!cases[i].run)
            early();
        all_together(WHOLE / 4);
        if (cases[i].run)
            cases[i].run();
        return 0;
    }
    return argc == 2 ? 0 : 2;
}
