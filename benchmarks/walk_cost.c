/* Nanoseconds per frame and per walk of the unwinder, warm, at some depths; no OpenMP, no signals.
 * Usage: walk_cost [walks] */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "unwind/loadmap.h"
#include "unwind/unwind.h"

static struct unwinder unwinder;
static int walks;
static volatile unsigned long kept;

static __attribute__((noinline)) unsigned long walk(void)
{
    struct unwind_frame frame;
    unsigned long frames = 0;
    unwinder_start_here(&unwinder);
    while (unwinder_next(&unwinder, &frame) == UNWIND_FRAME)
        frames++;
    return frames;
}

static void measure(int depth)
{
    unsigned long frames = walk();
    uint64_t begin_ns = clock_now_ns();
    for (int i = 0; i < walks; i++)
        kept += walk();
    double ns = (double)(clock_now_ns() - begin_ns) / walks;
    printf("depth %4d: %4lu frames, %8.0f ns a walk, %6.1f ns a frame\n", depth, frames, ns,
           ns / (double)frames);
}

/* Not a tail call: each level keeps its frame. */
static __attribute__((noinline)) int descend(int left, int depth)
{
    if (left == 0)
        measure(depth);
    else
        descend(left - 1, depth);
    return (int)kept + left;
}

int main(int argc, char **argv)
{
    static const int depths[] = {1, 5, 20, 100};
    walks = argc > 1 ? atoi(argv[1]) : 20000;
    if (walks < 1)
        return fputs("usage: walk_cost [walks]\n", stderr), 2;
    if (!loadmap_init() || !unwinder_init(&unwinder))
        return fputs("walk_cost: no memory\n", stderr), 1;
    unwinder_attach(&unwinder);
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        descend(depths[i], depths[i]);
    return 0;
}
