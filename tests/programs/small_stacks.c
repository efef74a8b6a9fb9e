/* Threads that use most of a small stack while they are sampled. Run it with OMP_STACKSIZE=64k: what is left
 * below the deepest frame must do for the sampling handler and the kernel's signal frame. */
#include "analytic.h"

enum { FRAME_BYTES = 1024, LEVELS = 28 };

NAMED static int fill_stack(int levels, double end_s)
{
    volatile char frame[FRAME_BYTES];
    for (int i = 0; i < FRAME_BYTES; i++)
        frame[i] = (char)(i + levels);
    if (levels > 0)
        return fill_stack(levels - 1, end_s) + (frame[levels] == (char)(2 * levels));
    spin_until(end_s);
    int intact = 1;
    for (int i = 0; i < FRAME_BYTES; i++)
        intact &= frame[i] == (char)i;
    return intact;
}

int main(void)
{
    int intact = 0;
    double end_s = clock_s() + 0.8;
#pragma omp parallel num_threads(4) reduction(+ : intact)
    intact += fill_stack(LEVELS, end_s);
    printf("intact %d\n", intact);
    return intact != 4 * (LEVELS + 1);
}
