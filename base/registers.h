/* The registers of an interrupted context, named by their use. Only this file contains the architecture's own
 * names of registers. registers_number(), registers_result() and registers_argument() are for a context that
 * is in a system call or just after one. All [handler]. */
#ifndef BLAME_BASE_REGISTERS_H
#define BLAME_BASE_REGISTERS_H

#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__)
#define REGISTERS_CALL_BYTES 2u /* length of the system call instruction in bytes */
#define REGISTERS_PC         gregs[REG_RIP]
#define REGISTERS_SP         gregs[REG_RSP]
#define REGISTERS_FP         gregs[REG_RBP]
#define REGISTERS_NUMBER     gregs[REG_RAX]
/* after the call, the result is in the register that held the call's number */
#define REGISTERS_RESULT gregs[REG_RAX]
/* in a function that calls others, the frame pointer is always above the stack pointer */
#define REGISTERS_FP_AT_SP 0u

static inline uint64_t registers_argument(const ucontext_t *context, int index)
{
    static const int registers[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    return (uint64_t)context->uc_mcontext.gregs[registers[index]];
}
#elif defined(__aarch64__)
#define REGISTERS_CALL_BYTES 4u
#define REGISTERS_PC         pc
#define REGISTERS_SP         sp
#define REGISTERS_FP         regs[29]
#define REGISTERS_NUMBER     regs[8]
/* after the call, the result is in the register that held the first argument */
#define REGISTERS_RESULT     regs[0]
/* the frame pointer may equal the stack pointer, because it points to the lowest word of a frame */
#define REGISTERS_FP_AT_SP   1u

/* Returns the link register: the address to which the innermost function returns, unless the function has
 * already saved it on the stack. */
static inline uintptr_t registers_lr(const ucontext_t *context)
{
    return context->uc_mcontext.regs[30];
}

static inline uint64_t registers_argument(const ucontext_t *context, int index)
{
    return context->uc_mcontext.regs[index];
}
#else
#error "blame knows x86-64 and aarch64"
#endif

static inline uintptr_t registers_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.REGISTERS_PC;
}

static inline void registers_set_pc(ucontext_t *context, uintptr_t pc)
{
    context->uc_mcontext.REGISTERS_PC = (__typeof__(context->uc_mcontext.REGISTERS_PC))pc;
}

static inline uintptr_t registers_sp(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.REGISTERS_SP;
}

static inline uintptr_t registers_fp(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.REGISTERS_FP;
}

static inline long registers_number(const ucontext_t *context)
{
    return (long)context->uc_mcontext.REGISTERS_NUMBER;
}

static inline long registers_result(const ucontext_t *context)
{
    return (long)context->uc_mcontext.REGISTERS_RESULT;
}

static inline void registers_set_result(ucontext_t *context, long result)
{
    context->uc_mcontext.REGISTERS_RESULT = (__typeof__(context->uc_mcontext.REGISTERS_RESULT))result;
}

#endif
