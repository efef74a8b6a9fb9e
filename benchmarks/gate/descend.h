/* Adds frames of the program between main() and the sampled place. */
#ifndef BLAME_BENCHMARKS_GATE_DESCEND_H
#define BLAME_BENCHMARKS_GATE_DESCEND_H

/* Calls `leaf` below `left` additional frames of this function. */
static __attribute__((noinline)) int descend(int left, void (*leaf)(void))
{
    int result = left;
    if (left > 0)
        result += descend(left - 1, leaf);
    else
        leaf();
    __asm__ volatile("" : "+r"(result)); /* prevents a tail call, so that each level keeps its frame */
    return result;
}

#endif
