/* A library with a region, which churn.cc loads and unloads. */
#include <omp.h>

unsigned long plugin_region(unsigned long state);

__attribute__((noinline)) static unsigned long stir(unsigned long state)
{
    for (int i = 0; i < 50000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state;
}

unsigned long plugin_region(unsigned long state)
{
    unsigned long sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += stir(state) != 0;
    return sum;
}
