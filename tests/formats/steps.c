/* The program that the measurement files beside this one are of. Another one, of format N:
 *
 *     clang -g -O2 -fopenmp -I include steps.c -o steps
 *     BLAME_TRACE=1 blame run --rate 500 --out profile -- ./steps
 *     gzip -9 -n -c profile/steps-*.blame > tests/formats/N.blame.gz        and a row in tests/behaviour/test_formats.py */
#include <omp.h>
#include "blame.h"
static omp_lock_t queue_lock;
static volatile long sink;
static __attribute__((noinline)) void spin(double s)
{
    double end = omp_get_wtime() + s;
    while (omp_get_wtime() < end)
        for (int i = 0; i < 2000; i++)
            sink = i;
}
static __attribute__((noinline)) void serial(void)
{
    spin(0.004);
}
static __attribute__((noinline)) void balanced(void)
{
#pragma omp parallel num_threads(2)
    spin(0.002);
}
static __attribute__((noinline)) void locked(void)
{
#pragma omp parallel num_threads(2)
    {
        omp_set_lock(&queue_lock);
        spin(0.002);
        omp_unset_lock(&queue_lock);
    }
}
static __attribute__((noinline)) void tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task
        spin(0.001);
    }
}
int main(void)
{
    omp_init_lock(&queue_lock);
    for (int i = 0; i < 4; i++) {
        blame_iteration_begin("step", i);
        serial();
        balanced();
        locked();
        tasks();
        blame_iteration_end("step");
    }
    return 0;
}
