/* Puts additional frames of the program on the stack, between main() and the place where samples are taken. */
#ifndef BLAME_BENCHMARKS_GATE_DESCEND_H
#define BLAME_BENCHMARKS_GATE_DESCEND_H

/* Calls `leaf` with `left` additional frames of this function on the stack. */
static __attribute__((noinline)) int gate_descend(int left, void (*leaf)(void))
{
    int result = left;
    if (left > 0)
        result += gate_descend(left - 1, leaf);
    else
        leaf();
    __asm__ volatile("" : "+r"(result)); /* prevents a tail call, so that every level has a frame */
    return result;
}

#endif
