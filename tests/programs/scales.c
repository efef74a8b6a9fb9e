/* A set-up that one thread does, and a step that all share: of T(p) = 0.2 + 0.4 / p seconds p - 1 threads idle for 0.2. */
#include "spin.h"

#include <omp.h>
#include <stdio.h>

NAMED static double set_up(void)
{
    return spin(0.2);
}

NAMED static double step(int threads)
{
    return spin(0.4 / threads);
}

int main(void)
{
    double sum = 0;
    int threads = omp_get_max_threads();
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp single
        sum += set_up();
        sum += step(threads);
    }
    printf("%d threads\n", threads);
    return sum < 0;
}
