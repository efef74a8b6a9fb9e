/* A step of which f has the first 30 %, g half with one thread, h the rest with a lock; every 50th takes three times as long. Prints where f and g ended, as
 * a part of the usual steps, by its own clock.
 *
 *     folds STEPS MICROSECONDS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/blame.h"

static double spin_until(double end)
{
    double now;
    do
        now = omp_get_wtime();
    while (now < end);
    return now;
}

static __attribute__((noinline)) void f(double end)
{
#pragma omp parallel
    spin_until(end);
    __asm__ volatile("");
}

static __attribute__((noinline)) void g(double end)
{
    spin_until(end);
    __asm__ volatile("");
}

static __attribute__((noinline)) void h(double each)
{
#pragma omp parallel
#pragma omp critical
    spin_until(omp_get_wtime() + each);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 100;
    double length = 1e-6 * (argc > 2 ? atof(argv[2]) : 10000), sums[3] = {0};
#pragma omp parallel
    spin_until(omp_get_wtime() + 0.001);
    for (int i = 0; i < steps; i++) {
        double begin = omp_get_wtime(), ends[3], slow = i % 50 == 25 ? 3 : 1;
        blame_iteration_begin("step", i);
        f(begin + 0.3 * length * slow);
        ends[0] = omp_get_wtime();
        g(begin + 0.8 * length * slow);
        ends[1] = omp_get_wtime();
        h(0.2 * length * slow / omp_get_max_threads());
        ends[2] = omp_get_wtime();
        blame_iteration_end("step");
        for (int k = 0; slow == 1 && k < 3; k++)
            sums[k] += ends[k] - begin;
        spin_until(omp_get_wtime() + 0.1 * length);
    }
    printf("f %.4f g %.4f\n", sums[0] / sums[2], sums[1] / sums[2]);
    return 0;
}
