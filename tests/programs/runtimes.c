/* One of each construct whose events we rely on, for scripts/try-runtimes.py. Needs no header of OpenMP, so that any clang compiles it. Prints a sum. */
#include <stdio.h>
#include <time.h>

typedef struct {
    void *state;
} omp_lock_t;
void omp_init_lock(omp_lock_t *);
void omp_set_lock(omp_lock_t *);
void omp_unset_lock(omp_lock_t *);

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void work(double s)
{
    double end = cpu_s() + s;
    while (cpu_s() < end)
        ;
}

int main(void)
{
    omp_lock_t lock;
    long sum = 0;
    omp_init_lock(&lock);
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int i = 0; i < 4; i++) {
        work(i < 2 ? 0.1 : 0.01);
        sum += i;
    }
#pragma omp parallel for reduction(+ : sum) schedule(dynamic)
    for (int i = 0; i < 4; i++) {
        work(0.03);
        sum += i;
    }
    work(0.1);
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp critical
        {
            work(0.05);
            sum += 1;
        }
#pragma omp barrier
        omp_set_lock(&lock);
        work(0.05);
        sum += 1;
        omp_unset_lock(&lock);
#pragma omp single
        for (int i = 0; i < 6; i++) {
#pragma omp task
            work(0.02);
        }
#pragma omp master
        work(0.05);
#pragma omp barrier
#pragma omp sections
        {
#pragma omp section
            work(0.02);
#pragma omp section
            work(0.04);
        }
#pragma omp single
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < 4; i++)
            work(0.02);
#pragma omp for ordered
        for (int i = 0; i < 2; i++) {
#pragma omp ordered
            work(0.01);
        }
    }
    printf("%ld\n", sum);
    return 0;
}
