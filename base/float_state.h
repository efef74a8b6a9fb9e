/* Saves and restores the program's floating-point environment: rounding mode, traps, and the flags that its
 * arithmetic has raised. Like errno, the environment belongs to the program. A program may test the flags
 * after an OpenMP call. If it has enabled a trap, our arithmetic could trigger the trap and end the program.
 *
 * Callbacks do their arithmetic between float_begin() and float_end(). The arithmetic must be in functions
 * that are not inlined there, because the compiler may move inlined arithmetic across the two calls.
 * scripts/check-float.py finds arithmetic in other places. Each call takes some ten ticks, so fast paths
 * avoid arithmetic. Signal handlers need no such calls: the kernel restores the program's environment after
 * the handler, and on x86-64 starts the handler with the default environment. */
#ifndef BLAME_BASE_FLOAT_STATE_H
#define BLAME_BASE_FLOAT_STATE_H

#include <stdint.h>

#if defined(__x86_64__)
#define FLOAT_DEFAULT 0x1f80u /* all exceptions masked, none raised, rounding to nearest */

struct float_state {
    uint32_t mxcsr; /* MXCSR is enough, because callbacks do not use x87 */
};

/* Saves the program's environment and sets the default one. [handler] */
static inline struct float_state float_begin(void)
{
    struct float_state state;
    const uint32_t ours = FLOAT_DEFAULT;
    __asm__ volatile("stmxcsr %0" : "=m"(state.mxcsr) : : "memory");
    __asm__ volatile("ldmxcsr %0" : : "m"(ours) : "memory");
    return state;
}

/* Restores the program's environment. [handler] */
static inline void float_end(struct float_state state)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(state.mxcsr) : "memory");
}
#else
struct float_state {
    uint64_t fpcr, fpsr;
};

/* Saves the program's environment and sets the default one. [handler] */
static inline struct float_state float_begin(void)
{
    struct float_state state;
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr" : "=r"(state.fpcr), "=r"(state.fpsr) : : "memory");
    return state;
}

/* Restores the program's environment. [handler] */
static inline void float_end(struct float_state state)
{
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(state.fpcr), "r"(state.fpsr) : "memory");
}
#endif

#endif
