/* Sets the runtime up behind a phase: too late, if the header has started it. */
#include <stdio.h>
#include <stdlib.h>

#include "blame.h"

int main(void)
{
    int threads = 0;
    blame_phase_begin("set up");
    setenv("OMP_NUM_THREADS", "3", 1);
    blame_phase_end("set up");
#pragma omp parallel reduction(+ : threads)
    threads++;
    printf("%d threads\n", threads);
    return 0;
}
