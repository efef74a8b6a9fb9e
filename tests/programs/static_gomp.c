/* A part of a program that has a libgomp of its own, linked into it: a region before main. */
#include "analytic.h"

__attribute__((constructor)) static void begin(void)
{
#pragma omp parallel num_threads(2)
    spin_until(clock_s() + 0.1);
}
