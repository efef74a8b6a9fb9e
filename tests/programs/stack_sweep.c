/* Functions that do known shares of the work, those that Sweep3D's had in the paper on hpsgprof (UKPEW 2009, table 3), on each of some threads:
 * stack_sweep SECONDS THREADS, of about so many seconds. On standard output: function and its seconds by the thread's clock of the processor's time; and for the whole program wall and cpu. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NAMED __attribute__((noinline))

enum function { SWEEP, SOURCE, FLUX_ERR, INNER, INITIALISE, INITXS, FUNCTIONS };
static const struct {
    const char *name;
    int units; /* of 10,000 in a round, of about a tenth of a second */
} table[FUNCTIONS] = {{"sweep", 9779}, {"source", 196},   {"flux_err", 22},
                      {"inner", 1},    {"initialise", 1}, {"initxs", 1}};

static double clock_of(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#define WORK(units)                                                                                                    \
    do                                                                                                                 \
        for (int unit = 0; unit < (units); unit++)                                                                     \
            for (int i = 0; i < 30000; i++)                                                                            \
                __asm__ volatile("" : "+r"(i));                                                                        \
    while (0)

#define FUNCTION(name, number)                                                                                         \
    NAMED static void name(int rounds, double *taken)                                                                  \
    {                                                                                                                  \
        double before_s = clock_of(CLOCK_THREAD_CPUTIME_ID);                                                           \
        WORK(table[number].units *rounds);                                                                             \
        taken[number] += clock_of(CLOCK_THREAD_CPUTIME_ID) - before_s;                                                 \
    }
FUNCTION(sweep, SWEEP)
FUNCTION(source, SOURCE)
FUNCTION(flux_err, FLUX_ERR)
FUNCTION(initialise, INITIALISE)
FUNCTION(initxs, INITXS)

NAMED static void inner(double *taken)
{
    source(1, taken);
    sweep(1, taken);
    flux_err(1, taken);
    double before_s = clock_of(CLOCK_THREAD_CPUTIME_ID);
    WORK(table[INNER].units);
    taken[INNER] += clock_of(CLOCK_THREAD_CPUTIME_ID) - before_s;
}

int main(int argc, char **argv)
{
    int rounds = (int)(10 * (argc > 1 ? atof(argv[1]) : 1));
    int threads = argc > 2 ? atoi(argv[2]) : 2;
    double begin_s = clock_of(CLOCK_MONOTONIC), sums[FUNCTIONS] = {0};
#pragma omp parallel num_threads(threads) reduction(+ : sums)
    {
        initialise(rounds, sums);
        initxs(rounds, sums);
        for (int round = 0; round < rounds; round++)
            inner(sums);
    }
    for (int i = 0; i < FUNCTIONS; i++)
        printf("%s %.6f\n", table[i].name, sums[i]);
    printf("wall %.6f\ncpu %.6f\n", clock_of(CLOCK_MONOTONIC) - begin_s, clock_of(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
