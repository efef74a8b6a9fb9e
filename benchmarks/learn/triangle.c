/* A loop whose best schedule depends on its size: row i has i steps. Of a large triangle the static schedule, two equal halves of the rows, leaves a
 * thread without work early; of a small one handing out rows costs more than that.
 *
 *     triangle SIZE
 *     clang -O2 -g -fopenmp benchmarks/learn/triangle.c -lm                                        the schedule is that of OMP_SCHEDULE
 *     clang -O2 -g -fopenmp -DSETTINGS='"triangle.h"' benchmarks/learn/triangle.c -lm              that which blame tune --specialise learned
 *
 * docs/learning.md shows how it is learned. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef SETTINGS
#include SETTINGS
#endif

#define STEPS   6e7
#define REGIONS 20000 /* at most */

static double row(int i)
{
    double x = i;
    for (int step = 0; step < i; step++)
        x = sqrt(x + step);
    return x;
}

int main(int argc, char **argv)
{
    int size = argc > 1 ? atoi(argv[1]) : 1000;
    if (size < 1 || size > 100000) {
        fputs("usage: triangle SIZE (1 to 100000)\n", stderr);
        return 2;
    }
#ifdef SETTINGS
    triangle_apply(size);
#endif
    double sum = 0, steps = 0.5 * size * (size + 1.0);
    for (int region = 0; region < REGIONS && region * steps < STEPS; region++) {
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
        for (int i = 1; i <= size; i++)
            sum += row(i);
    }
    printf("%d rows: %.6g\n", size, sum);
    return 0;
}
