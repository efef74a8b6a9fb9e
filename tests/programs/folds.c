/* A step of which f has the first 30 %, g half with one thread, h the rest with a lock; every 50th takes three times as long. Prints by its own clock, of
 * the usual steps and in parts of their length, where f and g ended on average, at the earliest and at the latest.
 *
 *     folds STEPS MICROSECONDS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "blame.h"

/* In the function's own code: few look at the clock. */
#define SPIN_UNTIL(end)                                                                                                \
    do {                                                                                                               \
        for (volatile int i = 0; i < 2000; i++)                                                                        \
            ;                                                                                                          \
    } while (omp_get_wtime() < (end))

static __attribute__((noinline)) void f(double end)
{
#pragma omp parallel
    SPIN_UNTIL(end);
    __asm__ volatile("");
}

static __attribute__((noinline)) void g(double end)
{
    SPIN_UNTIL(end);
    __asm__ volatile("");
}

static __attribute__((noinline)) void h(double each)
{
#pragma omp parallel
#pragma omp critical
    {
        double end = omp_get_wtime() + each;
        SPIN_UNTIL(end);
    }
    __asm__ volatile("");
}

static struct border {
    double sum, least, most;
} borders[2] = {{0, 1, 0}, {0, 1, 0}};

static void add(struct border *border, double part)
{
    border->sum += part;
    border->least = part < border->least ? part : border->least;
    border->most = part > border->most ? part : border->most;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 100, usual = 0;
    double length = 1e-6 * (argc > 2 ? atof(argv[2]) : 10000);
#pragma omp parallel
    omp_get_thread_num(); /* the team is there */
    for (int i = 0; i < steps; i++) {
        double slow = i % 50 == 25 ? 3 : 1;
        blame_iteration_begin("step", i);
        double begin = omp_get_wtime();
        f(begin + 0.3 * length * slow);
        double f_end = omp_get_wtime();
        g(begin + 0.8 * length * slow);
        double g_end = omp_get_wtime();
        h(0.2 * length * slow / omp_get_max_threads());
        double end = omp_get_wtime();
        blame_iteration_end("step");
        if (slow == 1) {
            add(&borders[0], (f_end - begin) / (end - begin));
            add(&borders[1], (g_end - begin) / (end - begin));
            usual++;
        }
    }
    for (int i = 0; i < 2; i++)
        printf("%c %.4f %.4f %.4f\n", "fg"[i], borders[i].sum / usual, borders[i].least, borders[i].most);
    return 0;
}
