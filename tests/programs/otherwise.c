/* What libomp does otherwise than libgomp: a form each, by -DWHAT. */
#include <omp.h>
#include <stdio.h>

#if defined TEAMS
int other(void)
{
    int sum = 0;
#pragma omp teams num_teams(3) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += omp_get_num_teams() * 10 + omp_get_num_threads();
    return sum;
}
#elif defined SCAN
int other(void)
{
    int sum = 0, all[64];
#pragma omp parallel for reduction(inscan, + : sum) num_threads(2)
    for (int i = 0; i < 64; i++) {
        sum += i;
#pragma omp scan inclusive(sum)
        all[i] = sum;
    }
    return all[63];
}
#elif defined CONDITIONAL
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" /* GCC's own memory for it */
int other(void)
{
    int last = -1;
#pragma omp parallel sections lastprivate(conditional : last) num_threads(2)
    {
#pragma omp section
        if (omp_get_num_threads() > 0)
            last = 1;
#pragma omp section
        if (omp_get_num_threads() > 2)
            last = 2;
    }
    return last;
}
#elif defined CANCEL
int other(void)
{
    static volatile int sum;
    for (int r = 0; r < 30; r++)
#pragma omp parallel num_threads(3)
    {
#pragma omp barrier
        if (r % 3 == 0) {
#pragma omp cancel parallel
        }
        for (int i = 0; i < 10000; i++)
            sum = i;
    }
    return sum;
}
#else
int other(void);
#endif

#ifndef LIBRARY
int main(void)
{
    int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    threads++;
    printf("%d threads, %d\n", threads, other());
    return 0;
}
#endif
