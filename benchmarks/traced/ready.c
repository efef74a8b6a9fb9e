/* Programs whose threads wait often and shortly, so that beside other programs most of the threads whose wait is over have
 * no core. traced.py compares their profiles with a trace of the same run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile double sink;

/* Works for about so many us of a free core. */
__attribute__((noinline)) static void work(int us)
{
    for (int i = 0; i < us * 400; i++)
        sink = sink + i;
}

__attribute__((noinline)) static void sleep_us(int us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* At each step another thread has most work. */
static void barriers(int threads)
{
#pragma omp parallel num_threads(threads)
    for (int step = 0; step < 1500; step++) {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < threads; i++)
            work((i + step) % threads ? 200 : 1000);
    }
}

/* Two chains of tasks, whatever the number of threads. */
static void chains(int threads)
{
    int chain[2] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < 3000; i++) {
#pragma omp task depend(inout : chain[i % 2])
        {
            work(i % 2 ? 300 : 600);
            chain[i % 2]++;
        }
    }
}

/* One thread creates the tasks, and takes longer for each than its execution. */
static void creator(int threads)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < 3000; i++) {
        work(500);
#pragma omp task
        work(300);
    }
}

/* A task waits for its children, of which one takes longer. */
static void children(int threads)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < 800; i++) {
        for (int child = 0; child < threads; child++) {
#pragma omp task
            work(child ? 300 : 1000);
        }
#pragma omp taskwait
    }
}

/* All wait for one that sleeps. */
static void sleeper(int threads)
{
#pragma omp parallel num_threads(threads)
    for (int step = 0; step < 300; step++) {
#pragma omp single
        sleep_us(3000);
        work(1000);
#pragma omp barrier
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int threads);
    } patterns[] = {
        {"barriers", barriers}, {"chains", chains}, {"creator", creator}, {"children", children}, {"sleeper", sleeper}};
    int threads = argc == 3 ? atoi(argv[2]) : 0;
    for (size_t i = 0; threads > 0 && i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(argv[1], patterns[i].name) == 0) {
            patterns[i].run(threads);
            return 0;
        }
    fprintf(stderr, "usage: %s barriers|chains|creator|children|sleeper THREADS\n", argv[0]);
    return 2;
}
