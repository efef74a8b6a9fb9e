/* What a GCC program does that a wrapper of libgomp can get wrong: each case prints the same with the provider of
 * layers/gomp/ as without it. Named after what it shows; provided.py runs them. */
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "team.h"

typedef void outlined(void *);
extern void GOMP_parallel_start(outlined *, void *, unsigned);
extern void GOMP_parallel_end(void);
extern void GOMP_task(outlined *, void *, void (*)(void *, void *), long, long, _Bool, unsigned, void **, int, void *);

/* Programs of GCC before 4.4 have these versions, whose lock is 8 bytes long instead of 16. */
#define OLD(name)                                                                                                      \
    extern void old_##name(void *);                                                                                    \
    __asm__(".symver old_" #name ", " #name "@OMP_1.0")
OLD(omp_init_nest_lock);
OLD(omp_set_nest_lock);
OLD(omp_unset_nest_lock);
OLD(omp_destroy_nest_lock);

static void old_nest_lock(void)
{
    uint64_t words[2] = {0, 0x5afe};
    old_omp_init_nest_lock(words);
    old_omp_set_nest_lock(words);
    old_omp_set_nest_lock(words);
    old_omp_unset_nest_lock(words);
    old_omp_unset_nest_lock(words);
    old_omp_destroy_nest_lock(words);
    printf("behind the lock: %lx\n", words[1]);
}

/* libgomp reads the list of reductions from the block, and returns the number of threads. */
static void reductions(void)
{
    int sum = 0, product = 1;
#pragma omp parallel num_threads(3) reduction(task, + : sum) reduction(task, * : product)
    {
        sum++;
#pragma omp task in_reduction(+ : sum) in_reduction(* : product)
        sum += 10, product *= 2;
    }
    printf("%d %d\n", sum, product);
}

static void scope(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp scope reduction(task, + : sum)
#pragma omp task in_reduction(+ : sum)
    sum++;
    printf("%d\n", sum);
}

/* More parts than libgomp defers, which would not fit on the stack. */
static void large_taskloop(void)
{
    long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(1) shared(sum)
    for (long i = 0; i < 60000; i++)
#pragma omp atomic
        sum += i;
    printf("%ld\n", sum);
}

static void taskloops(void)
{
    long sum = 0, last = -1, orphan = 0, order = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskloop num_tasks(7) reduction(+ : sum) lastprivate(last)
        for (unsigned long long i = 3; i < 1000; i += 3)
            sum += (long)i, last = (long)i;
#pragma omp taskloop grainsize(strict : 10) reduction(+ : sum)
        for (int i = 100; i > 0; i--)
            sum += i;
#pragma omp taskloop
        for (int i = 0; i < (int)(sum & 0); i++)
            sum = -1;
    }
#pragma omp taskloop reduction(+ : orphan) num_tasks(4) shared(order)
    for (int i = 0; i < 100; i++) {
        orphan += i;
        if (i % 25 == 0)
            order = order * 10 + i / 25 + 1;
    }
    printf("%ld %ld %ld %ld\n", sum, last, orphan, order);
}

/* The first task that runs cancels the others: a copy function would make libgomp run them all. */
static void cancelled_tasks(void)
{
    int ran = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 50; i++) {
#pragma omp task shared(ran)
        {
#pragma omp atomic
            ran++;
#pragma omp cancel taskgroup
        }
    }
    puts(ran < 50 ? "some were discarded" : "all ran");
}

static void cancelled_outside(void)
{
    int ran = 0;
#pragma omp task shared(ran)
    ran++;
#pragma omp taskgroup
    {
#pragma omp taskloop num_tasks(3) shared(ran)
        for (int i = 0; i < 3; i++)
            ran++;
    }
    printf("%d\n", ran);
}

/* Not ru_maxrss, which begins with that of the process that started this one. */
static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        abort();
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Discarded tasks leave no records behind. */
static void many_cancelled_tasks(void)
{
    long before = resident_kb();
    for (int round = 0; round < 600; round++) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
        for (int i = 0; i < 100; i++) {
#pragma omp task
            {
#pragma omp cancel taskgroup
            }
        }
    }
    puts(resident_kb() - before < 4 << 10 ? "little memory" : "much memory");
}

static void *brief_thread(void *unused)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp task
        work();
    }
    return unused;
}

/* Threads that have ended leave their records to later ones. */
static void brief_threads(void)
{
    long before = 0;
    for (int i = 0; i < 320; i++) {
        pthread_t other;
        if (i == 20)
            before = resident_kb();
        pthread_create(&other, NULL, brief_thread, NULL);
        pthread_join(other, NULL);
    }
    puts(resident_kb() - before < 1 << 10 ? "little memory" : "much memory");
}

/* One thread creates the tasks, and another one runs them and frees their records. */
static void producer(void)
{
    long done = 0, before = resident_kb();
#pragma omp parallel num_threads(2)
#pragma omp single
    for (long i = 0; i < 60000; i++) {
#pragma omp task shared(done)
#pragma omp atomic
        done++;
        while (i - __atomic_load_n(&done, __ATOMIC_ACQUIRE) > 20)
            sched_yield();
    }
    printf("%ld, %s\n", done, resident_kb() - before < 4 << 10 ? "little memory" : "much memory");
}

static void *block_seen;

static void see_block(void *block)
{
    block_seen = block;
}

/* A task that runs at once gets the program's own block. */
static void block_of_if0(void)
{
    uint64_t block[3] = {1, 2, 3};
#pragma omp parallel num_threads(2)
#pragma omp single
    GOMP_task(see_block, block, NULL, sizeof(block), 8, 0, 0, NULL, 0, NULL);
    puts(block_seen == block ? "its own" : "a copy");
}

static uintptr_t outermost, innermost;

enum at_once { IF0, FINAL, OUTSIDE, WAYS };

static void nest(int depth, enum at_once how)
{
    char here;
    innermost = (uintptr_t)&here;
    if (depth == 0)
        return;
    if (how == FINAL) {
#pragma omp task final(1)
        nest(depth - 1, how);
    } else if (how == IF0) {
#pragma omp task if (0)
        nest(depth - 1, how);
    } else {
#pragma omp task
        nest(depth - 1, how);
    }
}

static void nest_from_here(int depth, enum at_once how)
{
    char here;
    outermost = (uintptr_t)&here;
    nest(depth, how);
}

/* Nested tasks that run at once: libgomp 12 alone takes 448 bytes for each. */
static void deep_tasks(void)
{
    enum { DEPTH = 1000, BYTES = 700 };
    for (enum at_once how = IF0; how < WAYS; how++) {
        if (how == OUTSIDE) {
            nest_from_here(DEPTH, how);
        } else {
#pragma omp parallel num_threads(1)
            nest_from_here(DEPTH, how);
        }
        puts(outermost - innermost < DEPTH * BYTES ? "little stack" : "much stack");
    }
}

/* Of sizes and alignments that the header in front of it has to keep. */
static void blocks(void)
{
    struct {
        char bytes[201];
    } odd = {"odd"};
    struct {
        int number __attribute__((aligned(256)));
    } aligned = {7};
    int bad = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(odd, aligned) shared(bad)
        if (strcmp(odd.bytes, "odd") != 0 || aligned.number != 7 || (uintptr_t)&aligned % 256 != 0)
#pragma omp atomic
            bad++;
    }
    printf("%d bad\n", bad);
}

static void dependences(void)
{
    int value = 0, seen[3];
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : value)
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out : value) shared(value)
        value = 1;
#pragma omp task depend(depobj : object) shared(value)
        value = value * 10 + 1;
#pragma omp task depend(in : value) if (0) shared(value)
        seen[0] = value;
#pragma omp task depend(mutexinoutset : value) shared(value)
        value++;
#pragma omp taskwait depend(in : value)
        seen[1] = value;
#pragma omp task final(1) depend(iterator(int i = 0 : 3), inout : seen[i]) shared(value)
        seen[2] = value;
    }
    printf("%d %d %d\n", seen[0], seen[1], seen[2]);
}

/* The handle is libgomp's, and a task may be complete before its body ends, or long after. */
static void detached(void)
{
    omp_event_handle_t event;
    int order = 0, early = 0, late = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task detach(event) shared(order, early)
        {
            omp_fulfill_event(event);
            early = ++order;
        }
#pragma omp taskwait
#pragma omp task detach(event) shared(order, late)
        late = ++order;
#pragma omp task shared(event)
        omp_fulfill_event(event);
#pragma omp taskwait
    }
    printf("%d %d\n", early, late);
}

static void *fulfil(void *event)
{
    omp_fulfill_event((omp_event_handle_t)event);
    return NULL;
}

/* A POSIX thread that completes a task does not become a thread of OpenMP. */
static void detached_from_outside(void)
{
    int done = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t event;
        pthread_t thread;
#pragma omp task detach(event) shared(done, thread)
        done = pthread_create(&thread, NULL, fulfil, (void *)event) == 0;
#pragma omp taskwait
        pthread_join(thread, NULL);
    }
    printf("%d\n", done);
}

static void teams_nested(void)
{
    int teams = 0, threads = 0, inner = 0;
    omp_set_max_active_levels(3);
#pragma omp teams num_teams(3) thread_limit(4) reduction(+ : teams, threads, inner)
    {
        teams++;
#pragma omp parallel num_threads(2) reduction(+ : threads, inner)
        {
            threads++;
#pragma omp parallel num_threads(2) reduction(+ : inner)
            inner++;
        }
    }
    printf("%d %d %d\n", teams, threads, inner);
}

static int copies_differ(int turns)
{
    int differ = 0;
#pragma omp parallel num_threads(3) reduction(+ : differ)
    for (int turn = 0; turn < turns; turn++) {
        int value = -1;
#pragma omp single copyprivate(value)
        value = turn;
        differ += value != turn;
    }
    return differ;
}

static void copyprivate(void)
{
    int alone = 0;
#pragma omp single copyprivate(alone)
    alone = 5;
    printf("%d %d\n", copies_differ(200), alone);
}

/* The tool has ended, and threads that begin after it are unknown to the provider (provided.py). */
static void ended_tool(void)
{
    int executed = 0, differ = 0;
#pragma omp parallel num_threads(2)
    work();
#pragma omp parallel num_threads(5) reduction(+ : executed, differ)
    for (int turn = 0; turn < 50; turn++) {
        int value = -1;
#pragma omp single copyprivate(value)
        executed++, value = turn;
        differ += value != turn;
#pragma omp task
        work();
    }
    printf("%d %d\n", executed, differ);
}

static void doacross(void)
{
    long cells[20][20] = {{0}}, sum = 0;
#pragma omp parallel for num_threads(2) ordered(2) schedule(dynamic)
    for (int i = 1; i < 20; i++)
        for (int j = 1; j < 20; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
            cells[i][j] = cells[i - 1][j] + cells[i][j - 1] + 1;
#pragma omp ordered depend(source)
        }
    for (int i = 0; i < 20; i++)
        sum += cells[i][i];
    printf("%ld\n", sum);
}

/* More loops than there are registers for parameters, and more than are told. Each waits for its own iteration of the loop before. */
/* clang-format off */
#define LOOP(i)    for (int i = 0; i < 1; i++)
#define LOOPS_4(i) LOOP(i##0) LOOP(i##1) LOOP(i##2) LOOP(i##3)
#define NAMES_4(i) i##0, i##1, i##2, i##3
#define LOOPS_64                                                                                                       \
    LOOPS_4(a) LOOPS_4(b) LOOPS_4(c) LOOPS_4(d) LOOPS_4(e) LOOPS_4(f) LOOPS_4(g) LOOPS_4(h)                            \
    LOOPS_4(i) LOOPS_4(j) LOOPS_4(k) LOOPS_4(l) LOOPS_4(m) LOOPS_4(n) LOOPS_4(o) LOOPS_4(p)
#define NAMES_64                                                                                                       \
    NAMES_4(a), NAMES_4(b), NAMES_4(c), NAMES_4(d), NAMES_4(e), NAMES_4(f), NAMES_4(g), NAMES_4(h), NAMES_4(i),        \
        NAMES_4(j), NAMES_4(k), NAMES_4(l), NAMES_4(m), NAMES_4(n), NAMES_4(o), NAMES_4(p)

static void deep_doacross(void)
{
    static char done[2][4][4];
    int early = 0;
#pragma omp parallel num_threads(2) reduction(+ : early)
    {
#pragma omp for ordered(8) schedule(static, 1)
        for (int turn = 0; turn < 4; turn++)
            LOOPS_4(a) LOOP(b0) LOOP(b1) for (int last = 0; last < 4; last++)
            {
#pragma omp ordered depend(sink : turn - 1, NAMES_4(a), b0, b1, last)
                early += turn > 0 && !done[0][turn - 1][last];
                usleep(turn % 2 ? 0 : 1000);
                done[0][turn][last] = 1;
#pragma omp ordered depend(source)
            }
#pragma omp for ordered(66) schedule(static, 1)
        for (int turn = 0; turn < 4; turn++)
            LOOPS_64 for (int last = 0; last < 4; last++)
            {
#pragma omp ordered depend(sink : turn - 1, NAMES_64, last)
                early += turn > 0 && !done[1][turn - 1][last];
                usleep(turn % 2 ? 0 : 1000);
                done[1][turn][last] = 1;
#pragma omp ordered depend(source)
            }
    }
    printf("%d early\n", early);
}
/* clang-format on */

static void loops(void)
{
    long sum = 0, total = 0;
    omp_set_schedule(omp_sched_guided, 2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
#pragma omp for schedule(runtime)
        for (int i = 100; i > 0; i -= 3)
            sum += i;
#pragma omp for schedule(guided)
        for (unsigned long long i = 10; i < 200; i += 7)
            sum += (long)i;
#pragma omp for schedule(dynamic) ordered
        for (unsigned long long i = 50; i > 3; i--)
#pragma omp ordered
            sum += (long)i;
#pragma omp for schedule(monotonic : dynamic, 3) nowait
        for (long i = 0; i < 50; i++)
            sum += i;
#pragma omp for reduction(task, + : total) schedule(dynamic)
        for (int i = 0; i < 10; i++)
            total++;
#pragma omp sections
        {
#pragma omp section
            sum += 1000;
#pragma omp section
            sum += 2000;
        }
    }
    printf("%ld %ld\n", sum, total);
}

/* provided.py has the chunks of both loops. */
static void chunks(void)
{
    int ran = 0;
#pragma omp parallel num_threads(2) reduction(+ : ran)
    {
#pragma omp for schedule(dynamic, 5)
        for (long i = 7; i <= 52; i += 3)
            ran++;
#pragma omp for schedule(nonmonotonic : dynamic, 4)
        for (unsigned long long i = 1000; i > 991; i--)
            ran++;
    }
    printf("%d\n", ran);
}

/* Pools that shrink, grow and go. */
static void pools(void)
{
    int threads = 0;
    for (int size = 1; size < 6; size++) {
#pragma omp parallel num_threads(size % 2 ? size : 1) reduction(+ : threads)
        threads++;
    }
    omp_pause_resource_all(omp_pause_hard);
#pragma omp parallel num_threads(4) reduction(+ : threads)
    threads++;
    printf("%d\n", threads);
}

static int counted;

static void count(void *add)
{
    __atomic_fetch_add(&counted, *(int *)add, __ATOMIC_RELAXED);
}

/* What GCC before 4.9 makes of a region. */
static void old_region(void)
{
    int one = 1, two = 2;
    omp_set_max_active_levels(2);
    GOMP_parallel_start(count, &one, 3);
    count(&one);
    GOMP_parallel_start(count, &two, 2);
    count(&two);
    GOMP_parallel_end();
    GOMP_parallel_end();
    printf("%d, level %d\n", counted, omp_get_level());
}

static void forked(void)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
        threads++;
        exit(threads + 3);
    }
    waitpid(child, &status, 0);
#pragma omp parallel num_threads(2)
    work();
    printf("the child: %d\n", WEXITSTATUS(status));
}

static void exit_in_region(void)
{
    puts("before the end");
#pragma omp parallel num_threads(2)
    {
        if (INDEX == 0)
            exit(3);
        STAY;
    }
}

static void *last_thread(void *first)
{
    pthread_join(*(pthread_t *)first, NULL);
#pragma omp parallel num_threads(2)
    work();
    puts("the last thread");
    return NULL;
}

static void first_thread_ends(void)
{
    static pthread_t first;
    pthread_t other;
    first = pthread_self();
#pragma omp parallel num_threads(2)
    work();
    pthread_create(&other, NULL, last_thread, &first);
    pthread_exit(NULL);
}

static void target(void)
{
    int value = 1, other = 0;
#pragma omp target map(tofrom : value)
    {
        value += 2;
#pragma omp parallel num_threads(2) reduction(+ : value)
        value++;
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp target nowait map(tofrom : value) firstprivate(other) depend(inout : value)
        value += 10 + other;
#pragma omp task depend(inout : value) shared(value)
        value *= 2;
#pragma omp taskwait
    }
    printf("%d\n", value);
}

static void cancelled_loops(void)
{
    int ran = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 1000; i++) {
#pragma omp atomic
            ran++;
#pragma omp cancel for
        }
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp cancel sections
            }
#pragma omp section
            work();
        }
    }
    puts(ran < 1000 ? "cancelled" : "all");
}

static const struct construct constructs[] = {
    CONSTRUCT(old_nest_lock),
    CONSTRUCT(reductions),
    CONSTRUCT(scope),
    CONSTRUCT(large_taskloop),
    CONSTRUCT(taskloops),
    CONSTRUCT(cancelled_tasks),
    CONSTRUCT(cancelled_outside),
    CONSTRUCT(producer),
    CONSTRUCT(brief_threads),
    CONSTRUCT(block_of_if0),
    CONSTRUCT(blocks),
    CONSTRUCT(deep_tasks),
    CONSTRUCT(dependences),
    CONSTRUCT(detached),
    CONSTRUCT(detached_from_outside),
    CONSTRUCT(teams_nested),
    CONSTRUCT(copyprivate),
    CONSTRUCT(ended_tool),
    CONSTRUCT(doacross),
    CONSTRUCT(deep_doacross),
    CONSTRUCT(loops),
    CONSTRUCT(chunks),
    CONSTRUCT(pools),
    CONSTRUCT(old_region),
    CONSTRUCT(forked),
    CONSTRUCT(exit_in_region),
    CONSTRUCT(cancelled_loops),
    CONSTRUCT(many_cancelled_tasks),
    CONSTRUCT(target),
    CONSTRUCT(first_thread_ends),
};

CONSTRUCTS_MAIN(constructs)
