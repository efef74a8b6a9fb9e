/* A loop whose later iterations take longer. The best OMP_SCHEDULE is not the default, and it depends on the size (docs/lab.md).
 *
 *     triangle [SIZE]
 *     clang -O2 -g -fopenmp docs/examples/triangle.c                                  takes the schedule from OMP_SCHEDULE
 *     clang -O2 -g -fopenmp -DSETTINGS='"triangle.h"' -I. docs/examples/triangle.c    has the schedule that blame tune --specialise found */
#include <stdio.h>
#include <stdlib.h>
#ifdef SETTINGS
#include SETTINGS
#endif

static double work(int n)
{
    volatile double sum = 0;
    for (int i = 0; i < n; i++)
        sum += i * 1e-9;
    return sum;
}

int main(int argc, char **argv)
{
    int size = argc > 1 ? atoi(argv[1]) : 2000;
    if (size < 1 || size > 2000)
        return fputs("usage: triangle [SIZE], 1 to 2000\n", stderr), 2;
#ifdef SETTINGS
    triangle_apply(size);
#endif
    double sum = 0;
    int steps = 6 * 2000 / size * 2000 / size; /* keeps the total work the same for any size */
    for (int step = 0; step < steps && step < 20000; step++)
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
        for (int i = 0; i < size; i++)
            sum += work(i * 20);
    printf("sum %.6f\n", sum);
    return 0;
}
