/* One lock of every sort, each waited for twice, 0.15 s and 0.05 s long. What locks.csv must say of it goes
 * to stdout, a line a lock, separated by tabs:
 *
 *     lock  KIND  NAME  SECONDS WAITED  LONGEST WAIT  HOLDER  WAITER  CALLS THAT INITIALISED IT
 *
 * clocked by the program itself. */
#include "analytic.h"
#include <signal.h>
#include <stdbool.h>

#define LONG_S  0.1503
#define SHORT_S 0.0507

struct waited {
    double sum_s, longest_s;
};

struct guarded {
    double data[2];
    omp_lock_t lock;
};

static omp_lock_t global_lock;
static omp_lock_t lock_array[3];
static struct guarded guarded;
static omp_nest_lock_t global_nest_lock;
static int held, asked; /* the holder is inside; the waiter has a core, and is about to ask */

HELPER void announce(void)
{
    __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
        ;
}

HELPER double await(void)
{
    while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
        ;
    double asked_s = clock_s();
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
    return asked_s;
}

HELPER void note(struct waited *waited, double asked_s)
{
    double wait_s = clock_s() - asked_s;
    waited->sum_s += wait_s;
    if (wait_s > waited->longest_s)
        waited->longest_s = wait_s;
    held = asked = 0;
}

NAMED static void lock_holder(omp_lock_t *lock, double hold_s)
{
    omp_set_lock(lock);
    announce();
    spin_until(clock_s() + hold_s);
    omp_unset_lock(lock);
    __asm__ volatile("");
}

NAMED static void lock_waiter(omp_lock_t *lock, struct waited *waited)
{
    double asked_s = await();
    omp_set_lock(lock);
    note(waited, asked_s);
    omp_unset_lock(lock);
    __asm__ volatile("");
}

static void contend_once(omp_lock_t *lock, double hold_s, struct waited *waited)
{
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1)
            lock_holder(lock, hold_s);
        else
            lock_waiter(lock, waited);
    }
}

static void print_lock(const char *kind, const char *name, struct waited waited, const char *holder, const char *waiter,
                       int initialisers)
{
    printf("lock\t%s\t%s\t%.6f\t%.6f\t%s\t%s\t%d\n", kind, name, waited.sum_s, waited.longest_s, holder, waiter,
           initialisers);
}

static void contend(omp_lock_t *lock, const char *name)
{
    struct waited waited = {0, 0};
    contend_once(lock, LONG_S, &waited);
    contend_once(lock, SHORT_S, &waited);
    print_lock("lock", name, waited, "lock_holder", "lock_waiter", 1);
}

static void contend_static(void)
{
    static omp_lock_t static_lock;
    omp_init_lock(&static_lock);
#ifdef __clang__
    contend(&static_lock, "contend_static.static_lock");
#else
    contend(&static_lock, "static_lock");
#endif
    omp_destroy_lock(&static_lock);
}

enum { MAKE_LINE = __LINE__ + 3 };
NAMED static void make_lock(omp_lock_t *lock)
{
    omp_init_lock(lock);
    __asm__ volatile("");
}

enum { REMAKE_LINE = __LINE__ + 3 };
NAMED static void remake_lock(omp_lock_t *lock)
{
    omp_init_lock(lock);
    __asm__ volatile("");
}

NAMED static omp_lock_t *first_place(void)
{
    omp_lock_t *lock = malloc(sizeof *lock);
    make_lock(lock);
    return lock;
}

NAMED static omp_lock_t *second_place(void)
{
    omp_lock_t *lock = malloc(sizeof *lock);
    make_lock(lock);
    return lock;
}

/* The name is that of the initialisation after which there was most waiting, whether it came last or first. */
static void contend_recreated(double first_s, double second_s)
{
    struct waited waited = {0, 0};
    omp_lock_t *lock = malloc(sizeof *lock);
    char name[80];
    make_lock(lock);
    contend_once(lock, first_s, &waited);
    double waited_first_s = waited.sum_s;
    omp_destroy_lock(lock);
    remake_lock(lock);
    contend_once(lock, second_s, &waited);
    omp_destroy_lock(lock);
    bool last = waited.sum_s > 2 * waited_first_s;
    snprintf(name, sizeof name, "lock of %s lock_names.c:%d", last ? "remake_lock" : "make_lock",
             last ? REMAKE_LINE : MAKE_LINE);
    print_lock("lock", name, waited, "lock_holder", "lock_waiter", 2);
    /* Not freed: the next lock is to have an address of its own. */
}

NAMED static void nest_holder(double hold_s)
{
    omp_set_nest_lock(&global_nest_lock);
    announce();
    spin_until(clock_s() + hold_s);
    omp_unset_nest_lock(&global_nest_lock);
    __asm__ volatile("");
}

NAMED static void nest_waiter(struct waited *waited)
{
    double asked_s = await();
    omp_set_nest_lock(&global_nest_lock);
    note(waited, asked_s);
    omp_unset_nest_lock(&global_nest_lock);
    __asm__ volatile("");
}

NAMED static void named_holder(double hold_s)
{
#pragma omp critical(table)
    {
        announce();
        spin_until(clock_s() + hold_s);
    }
    __asm__ volatile("");
}

NAMED static void named_waiter(struct waited *waited)
{
    double asked_s = await();
#pragma omp critical(table)
    note(waited, asked_s);
    __asm__ volatile("");
}

NAMED static void unnamed_holder(double hold_s)
{
#pragma omp critical
    {
        announce();
        spin_until(clock_s() + hold_s);
    }
    __asm__ volatile("");
}

NAMED static void unnamed_waiter(struct waited *waited)
{
    double asked_s = await();
#pragma omp critical
    note(waited, asked_s);
    __asm__ volatile("");
}

#define CONTEND(holder, waiter, kind, name, initialisers)                                                              \
    do {                                                                                                               \
        struct waited waited = {0, 0};                                                                                 \
        for (int round = 0; round < 2; round++) {                                                                      \
            _Pragma("omp parallel num_threads(2)")                                                                     \
            {                                                                                                          \
                if (omp_get_thread_num() == 1)                                                                         \
                    holder(round ? SHORT_S : LONG_S);                                                                  \
                else                                                                                                   \
                    waiter(&waited);                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
        print_lock(kind, name, waited, #holder, #waiter, initialisers);                                                \
    } while (0)

/* Thread 0 takes the lock and sleeps until a task that it made has released it: another thread's task. Who
 * took the lock and keeps it is blamed while samples see it do so; the task gets what is left. Thread 2 is to
 * take it, and comes to the barrier when the task is there: libomp does not always wake who sleeps in it. */
NAMED static void releaser(omp_lock_t *lock, double hold_s)
{
    spin_until(clock_s() + hold_s);
    omp_unset_lock(lock);
    __asm__ volatile("");
}

static void contend_released_elsewhere(omp_lock_t *lock)
{
    struct waited waited = {0, 0};
    for (int round = 0; round < 2; round++) {
        int made = 0, released = 0;
#pragma omp parallel num_threads(3)
        {
            if (omp_get_thread_num() == 0) {
                omp_set_lock(lock);
                announce();
#pragma omp task shared(released)
                {
                    releaser(lock, round ? SHORT_S : LONG_S);
                    __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
                }
                __atomic_store_n(&made, 1, __ATOMIC_RELEASE);
                while (!__atomic_load_n(&released, __ATOMIC_ACQUIRE))
                    nanosleep(&(struct timespec){0, 1000000}, NULL);
            } else if (omp_get_thread_num() == 1) {
                lock_waiter(lock, &waited);
            } else {
                while (!__atomic_load_n(&made, __ATOMIC_ACQUIRE))
                    ;
            }
        }
    }
    print_lock("lock", "released_elsewhere", waited, "contend_released_elsewhere", "lock_waiter", 1);
}

static omp_lock_t released_elsewhere;

int main(int argc, char **argv)
{
    char name[80];
    omp_init_lock(&global_lock);
    contend(&global_lock, "global_lock");
    contend_static();
    for (int i = 0; i < 3; i++)
        omp_init_lock(&lock_array[i]);
    snprintf(name, sizeof name, "lock_array+0x%zx", 2 * sizeof lock_array[0]);
    contend(&lock_array[2], name);
    omp_init_lock(&guarded.lock);
    contend(&guarded.lock, "guarded+0x10");
    snprintf(name, sizeof name, "lock of make_lock lock_names.c:%d", MAKE_LINE);
    contend(first_place(), name);
    contend(second_place(), name);
    contend_recreated(SHORT_S, LONG_S);
    contend_recreated(LONG_S, SHORT_S);
    omp_init_nest_lock(&global_nest_lock);
    CONTEND(nest_holder, nest_waiter, "nest_lock", "global_nest_lock", 1);
    CONTEND(named_holder, named_waiter, "critical", "critical(table)", 0);
    CONTEND(unnamed_holder, unnamed_waiter, "critical", "critical (unnamed)", 0);
    omp_init_lock(&released_elsewhere);
    contend_released_elsewhere(&released_elsewhere);
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "sigkill") == 0)
        raise(SIGKILL);
    return 0;
}
