/* Frames of the program above what is sampled. */
#ifndef BLAME_BENCHMARKS_GATE_DESCEND_H
#define BLAME_BENCHMARKS_GATE_DESCEND_H

/* Calls `leaf` with so many frames of this function above. */
static __attribute__((noinline)) int descend(int left, void (*leaf)(void))
{
    int result = left;
    if (left > 0)
        result += descend(left - 1, leaf);
    else
        leaf();
    __asm__ volatile("" : "+r"(result)); /* no tail call: each level keeps its frame */
    return result;
}

#endif
