/* A loop whose later iterations take longer: the best of OMP_SCHEDULE is not the default (docs/tuning.md). */
#include <stdio.h>

static double work(int n)
{
    volatile double sum = 0;
    for (int i = 0; i < n; i++)
        sum += i * 1e-9;
    return sum;
}

int main(void)
{
    double sum = 0;
    for (int step = 0; step < 6; step++)
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
        for (int i = 0; i < 2000; i++)
            sum += work(i * 20);
    printf("sum %.6f\n", sum);
    return 0;
}
