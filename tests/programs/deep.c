/* A recursion of the given depth below a region, on both threads: deeper than BLAME_DEPTH its paths are cut,
 * and say so. */
#include "analytic.h"

NAMED static double descend(int levels)
{
    if (levels == 0) {
        work_for("descend", 0.6007);
        return 1;
    }
    double below = descend(levels - 1);
    __asm__ volatile("" : "+x"(below)); /* keeps the recursion from becoming a loop */
    return below + 1;
}

int main(int argc, char **argv)
{
    int levels = argc > 1 ? atoi(argv[1]) : 1000;
    double frames = 0;
#pragma omp parallel num_threads(2) reduction(+ : frames)
    frames += descend(levels);
    printf("frames %.0f\n", frames);
    print_expectations(2);
    return 0;
}
