/* Sleeps under samples, built with ThreadSanitizer, which calls the handlers of signals by one of its own. */
#include "analytic.h"

int main(void)
{
    int regions = 0;
#pragma omp parallel num_threads(1)
    regions++;
    for (int i = 0; i < 50; i++)
        usleep(10000);
    printf("regions %d\n", regions);
    return 0;
}
