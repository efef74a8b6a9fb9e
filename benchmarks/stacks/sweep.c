/* Functions that take known shares of the processor's time, those that Sweep3D had in the paper on hpsgprof (UKPEW 2009, table 3), on each of some threads:
 * stack_sweep SECONDS THREADS. What each has really taken stands on standard output: function, seconds. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NAMED __attribute__((noinline))
#define ROUND_S 0.1

enum function { SWEEP, SOURCE, FLUX_ERR, INNER, INITIALISE, INITXS, FUNCTIONS };
static const struct {
    const char *name;
    double percent;
} table[FUNCTIONS] = {{"sweep", 97.79}, {"source", 1.96}, {"flux_err", 0.22}, {"inner", 0.01}, {"initialise", 0.01}, {"initxs", 0.01}};

static double clock_of(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Some thousand additions between looks at the clock, which would have most of the samples otherwise. */
#define WORK(seconds)                                                                                        \
    do {                                                                                                     \
        double begin_s = clock_of(CLOCK_THREAD_CPUTIME_ID);                                                  \
        while (clock_of(CLOCK_THREAD_CPUTIME_ID) < begin_s + (seconds))                                      \
            for (int i = 0; i < 20000; i++)                                                                  \
                __asm__ volatile("" : "+r"(i));                                                              \
    } while (0)

#define FUNCTION(name, number)                                                                               \
    NAMED static void name(double round_s, double *taken)                                                    \
    {                                                                                                        \
        double before_s = clock_of(CLOCK_THREAD_CPUTIME_ID);                                                 \
        WORK(table[number].percent / 100 * round_s);                                                         \
        taken[number] += clock_of(CLOCK_THREAD_CPUTIME_ID) - before_s;                                       \
    }
FUNCTION(sweep, SWEEP)
FUNCTION(source, SOURCE)
FUNCTION(flux_err, FLUX_ERR)
FUNCTION(initialise, INITIALISE)
FUNCTION(initxs, INITXS)

NAMED static void inner(double round_s, double *taken)
{
    source(round_s, taken);
    sweep(round_s, taken);
    flux_err(round_s, taken);
    double before_s = clock_of(CLOCK_THREAD_CPUTIME_ID);
    WORK(table[INNER].percent / 100 * round_s);
    taken[INNER] += clock_of(CLOCK_THREAD_CPUTIME_ID) - before_s;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    int threads = argc > 2 ? atoi(argv[2]) : 2;
    double begin_s = clock_of(CLOCK_MONOTONIC), sums[FUNCTIONS] = {0};
#pragma omp parallel num_threads(threads) reduction(+ : sums)
    {
        initialise(seconds, sums);
        initxs(seconds, sums);
        for (double left_s = seconds; left_s > 0; left_s -= ROUND_S)
            inner(left_s < ROUND_S ? left_s : ROUND_S, sums);
    }
    for (int i = 0; i < FUNCTIONS; i++)
        printf("%s %.6f\n", table[i].name, sums[i]);
    printf("wall %.6f\ncpu %.6f\n", clock_of(CLOCK_MONOTONIC) - begin_s, clock_of(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
