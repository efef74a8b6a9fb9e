/* Where the first argument of a system call was before the call, on aarch64: the kernel leaves the result in its register, x0, and all others
 * as they were, so the instructions that lead to the call say where it came from. A function of bytes alone. Internal to this room. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_FIRST_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_FIRST_H

#include <stddef.h>
#include <stdint.h>

enum restart_first_kind {
    FIRST_IS_LOST,
    FIRST_IS_NUMBER,   /* the number */
    FIRST_IN_REGISTER, /* that register (31: the stack pointer), and the number added */
    FIRST_IN_LOW_HALF, /* the lower half of that register */
    FIRST_IN_SIGNED_HALF,
    FIRST_IN_MEMORY, /* 64 bits, at that register and the number added */
    FIRST_IN_WORD,   /* 32 bits there */
    FIRST_IN_SIGNED_WORD,
};

struct restart_first {
    uint8_t kind, reg; /* enum restart_first_kind */
    int64_t number;
};

/* The code has so many instructions; `call` is the number of the one that is the system call. What is found holds on every way that leads to the
 * call through this code. A branch from elsewhere into the few instructions before a call is not seen. [handler] */
__attribute__((visibility("hidden"))) struct restart_first restart_first_find(const uint32_t *code, size_t count,
                                                                              size_t call);

#endif
