/* 20,000 tiny regions: a profile must not grow with the number of regions executed. */
#include "analytic.h"

enum { REGIONS = 20000 };

static long entered[2][16]; /* a cache line and more for each thread */

NAMED static void tiny_region(void)
{
#pragma omp parallel num_threads(2)
    entered[omp_get_thread_num()][0]++;
    __asm__ volatile("");
}

int main(void)
{
    for (int i = 0; i < REGIONS; i++)
        tiny_region();
    printf("entered %ld\n", entered[0][0] + entered[1][0]);
    printf("bound directory_bytes %d\n", 768 << 10);
    return 0;
}
