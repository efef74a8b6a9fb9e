/* Where a system call's first argument was before the call, on aarch64. The kernel puts the result in its
 * register, x0, and leaves the other registers as they were. So the instructions before the call show where
 * the argument came from. A function of bytes only. Internal to this room. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_FIRST_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_FIRST_H

#include <stddef.h>
#include <stdint.h>

enum restart_first_kind {
    FIRST_IS_LOST,
    FIRST_IS_NUMBER,   /* the number */
    FIRST_IN_REGISTER, /* that register (31: the stack pointer), plus the number */
    FIRST_IN_LOW_HALF, /* the lower half of that register */
    FIRST_IN_SIGNED_HALF,
    FIRST_IN_MEMORY, /* 64 bits, at that register plus the number */
    FIRST_IN_WORD,   /* 32 bits there */
    FIRST_IN_SIGNED_WORD,
};

struct restart_first {
    uint8_t kind, reg; /* enum restart_first_kind */
    int64_t number;
};

/* Finds the first argument of the system call at code[call]. The result holds on every path to the call
 * within code[0 .. count - 1]. A branch from elsewhere into the few instructions before the call is not seen.
 * [handler] */
__attribute__((visibility("hidden"))) struct restart_first restart_first_find(const uint32_t *code, size_t count,
                                                                              size_t call);

#endif
