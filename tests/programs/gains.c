/* What could be gained: each case comes as it should not be and as it should be, with the same work. Prints
 * the seconds that its parallel part took, by its own clock. The difference of the two is the gain that a
 * finding's bound has to cover.
 *
 *     gains CASE slow|fast */
#include "analytic.h"

#define THREADS     2
#define REPETITIONS 6

static omp_lock_t lock;

NAMED static void burn(double seconds)
{
    spin_until(clock_s() + seconds);
    __asm__ volatile("");
}

static void serial(int fast)
{
    for (int i = 0; i < REPETITIONS; i++) {
#pragma omp parallel num_threads(THREADS)
        burn(0.05);
        if (!fast)
            burn(0.12);
#pragma omp parallel num_threads(THREADS) if (fast)
        burn(fast ? 0.12 / THREADS : 0.0);
    }
}

static void imbalance(int fast)
{
    for (int i = 0; i < REPETITIONS; i++) {
#pragma omp parallel num_threads(THREADS)
        burn(fast ? 0.09 : omp_get_thread_num() ? 0.05 : 0.13);
    }
}

static void narrow(int fast)
{
    for (int i = 0; i < REPETITIONS; i++) {
#pragma omp parallel num_threads(THREADS)
        burn(0.03);
#pragma omp parallel num_threads(fast ? THREADS : 1)
        burn(fast ? 0.12 / THREADS : 0.12);
    }
}

static void starved(int fast)
{
    for (int i = 0; i < REPETITIONS; i++) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
        {
            for (int piece = 0; piece < (fast ? 2 * THREADS : 1); piece++) {
#pragma omp task
                burn(fast ? 0.12 / (2 * THREADS) : 0.12);
            }
#pragma omp taskwait
        }
    }
}

static void locked(int fast)
{
    omp_init_lock(&lock);
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < 3 * REPETITIONS; i++) {
        if (!fast)
            omp_set_lock(&lock);
        burn(0.03);
        if (!fast)
            omp_unset_lock(&lock);
        burn(0.01);
    }
    omp_destroy_lock(&lock);
}

static long fib(int n, int least)
{
    long a, b;
    if (n < 2)
        return n;
    if (n < least)
        return fib(n - 1, least) + fib(n - 2, least);
#pragma omp task shared(a)
    a = fib(n - 1, least);
#pragma omp task shared(b)
    b = fib(n - 2, least);
#pragma omp taskwait
    return a + b;
}

static void fine(int fast)
{
    long sum = 0;
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    sum = fib(27, fast ? 20 : 2);
    if (sum != 196418)
        abort();
}

/* Equal shares: there is nothing to be gained. */
static void balanced(int fast)
{
    for (int i = 0; i < REPETITIONS; i++) {
#pragma omp parallel num_threads(THREADS)
        burn(fast ? 0.1 : 0.1);
    }
}

/* One thread, and no time for more than a few samples. */
static void alone(int fast)
{
#pragma omp parallel num_threads(1)
    burn(fast ? 0.5 : 0.5);
}

static void brief(int fast)
{
#pragma omp parallel num_threads(THREADS)
    burn(omp_get_thread_num() && !fast ? 0.004 : 0.01);
}

static const struct {
    const char *name;
    void (*run)(int fast);
} cases[] = {
    {"serial", serial},     {"imbalance", imbalance}, {"narrow", narrow},
    {"starved", starved},   {"locked", locked},       {"fine", fine},
    {"balanced", balanced}, {"alone", alone},         {"brief", brief},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            double begin_s = clock_s();
            cases[i].run(strcmp(argv[2], "fast") == 0);
            printf("took %.6f\n", clock_s() - begin_s);
            return 0;
        }
    fprintf(stderr, "usage: gains CASE slow|fast\n");
    return 2;
}
