/* How many cores the first thread may run on before its first region, and with how many threads that has when the program has chosen one core first. */
#include <sched.h>

#include "analytic.h"

int main(void)
{
    cpu_set_t cores;
    int threads = 0;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    printf("cores %d\n", CPU_COUNT(&cores));
    for (int core = 0, found = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &cores) && found++)
            CPU_CLR(core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
#pragma omp parallel reduction(+ : threads)
    threads++;
    printf("threads %d\n", threads);
    return 0;
}
