/* One small use of each construct; a program's first argument names it. Who does what is determined by waits
 * in the program's own code, so that each thread's events are the same in every run, however busy the
 * machine: a thread that must not take a task, a chunk or a section is kept in the program until another has
 * it. */
#ifndef BLAME_TESTS_EVENTS_TEAM_H
#define BLAME_TESTS_EVENTS_TEAM_H

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define HELPER     static __attribute__((noinline, unused))
#define INDEX      omp_get_thread_num()
#define PRAGMA(it) _Pragma(#it)
#define TEAM       PRAGMA(omp parallel num_threads(2))
/* The end of a body whose last call must not become a jump: the return address would be the runtime's. */
#define STAY __asm__ volatile("")

static int reached[8];

HELPER void reach(int place)
{
    __atomic_store_n(&reached[place], 1, __ATOMIC_RELEASE);
}

HELPER void await(int place)
{
    while (!__atomic_load_n(&reached[place], __ATOMIC_ACQUIRE))
        sched_yield();
    STAY;
}

HELPER void work(void)
{
    STAY;
}

/* The first thread does it, the other one is in the program until that is done. */
#define BY_FIRST TEAM for (int turn = keep_others(); turn == 0; turn = 1, reach(DONE))
enum { DONE = 7 };

HELPER int keep_others(void)
{
    if (INDEX != 0)
        await(DONE);
    return INDEX;
}

struct construct {
    const char *name;
    void (*run)(void);
};

/* Without an argument: their names. */
static inline int constructs_main(int argc, char **argv, const struct construct *constructs, int count)
{
    for (int i = 0; i < count; i++) {
        if (argc == 1)
            puts(constructs[i].name);
        else if (strcmp(argv[1], constructs[i].name) == 0)
            return constructs[i].run(), 0;
    }
    return argc == 1 ? 0 : 2;
}

#define CONSTRUCT(name) {#name, name}
#define CONSTRUCTS_MAIN(constructs)                                                                                    \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        return constructs_main(argc, argv, constructs, (int)(sizeof(constructs) / sizeof((constructs)[0])));           \
    }

#endif
