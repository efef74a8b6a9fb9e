/* What the programs of advice.c and advice.cc share: work of a known length, and how a case is chosen. */
#ifndef BLAME_TESTS_ADVICE_WORK_H
#define BLAME_TESTS_ADVICE_WORK_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMED  __attribute__((noinline))
#define WHOLE  800000.0 /* microseconds of work in a program, about */
#define STEPS  700      /* of work() in a microsecond, about */
#define PIECES 400      /* of an evenly divided program */

static int threads;
static bool fixed;
static volatile double sink;

/* Works for some microseconds. Inlined, so that the line which a profile shows is the caller's. */
static inline __attribute__((always_inline)) void work(double us)
{
    double x = 1;
    for (long i = 0, steps = (long)(us * STEPS); i < steps; i++) {
        x = x * 0.999999 + 1e-6;
        __asm__ volatile("" : "+x"(x));
    }
    if (x == 0)
        sink = x;
}

static void nap(double us)
{
    struct timespec time = {(time_t)(us / 1e6), (long)(us * 1e3) % 1000000000};
    nanosleep(&time, NULL);
}

/* Well balanced work, so that each program has some that is right. */
NAMED static void even(double us)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int i = 0; i < PIECES; i++)
        work(us / PIECES);
}

/* rules: right ones, separated by spaces; "-": no finding promises a gain of 5 %. place: in the finding's title or
 * place. words: in its title or advice. */
struct advice_case {
    const char *name;
    void (*run)(void);
    const char *rules, *place, *words;
};

/* Returns the exit status of a program that is called as advice.c says. */
static int run_case(const struct advice_case *cases, size_t count, int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && strcmp(argv[1], "list") == 0 && i < count; i++)
        printf("%s\t%s\t%s\t%s\n", cases[i].name, cases[i].rules, cases[i].place, cases[i].words);
    for (size_t i = 0; argc == 4 && i < count; i++) {
        if (strcmp(argv[1], cases[i].name) != 0)
            continue;
        threads = atoi(argv[2]);
        fixed = strcmp(argv[3], "after") == 0;
        cases[i].run();
        return 0;
    }
    return argc == 2 ? 0 : 2;
}

#endif
