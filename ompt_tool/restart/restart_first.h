/* Finds where the first argument of a system call was before the call, on aarch64. The kernel stores the
 * call's result in the argument's register, x0, and leaves the other registers unchanged. So the instructions
 * before the call show where the argument came from. The result depends only on the bytes of the code.
 * Internal to this room. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_FIRST_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_FIRST_H

#include <stddef.h>
#include <stdint.h>

enum restart_first_kind {
    FIRST_IS_LOST,
    FIRST_IS_NUMBER, /* `number` itself */
    /* in the register `reg` (31: the stack pointer); the argument is its value plus `number` */
    FIRST_IN_REGISTER,
    FIRST_IN_LOW_HALF, /* in the lower half of the register */
    FIRST_IN_SIGNED_HALF,
    FIRST_IN_MEMORY, /* in memory: 64 bits at the register plus `number` */
    FIRST_IN_WORD,   /* in memory: 32 bits at the register plus `number` */
    FIRST_IN_SIGNED_WORD,
};

struct restart_first {
    uint8_t kind, reg; /* `kind` is a value of enum restart_first_kind */
    int64_t number;
};

/* Finds the first argument of the system call at code[call]. The result holds for every path to the call
 * within code[0] to code[count - 1]. A branch from other code into the few instructions before the call is
 * not seen. [handler] */
__attribute__((visibility("hidden"))) struct restart_first restart_first_find(const uint32_t *code, size_t count,
                                                                              size_t call);

#endif
