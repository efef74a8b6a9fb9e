/* unwind/machine.h for x86-64. A call pushes its return address; rbp is the frame pointer. All [handler]. */
#ifndef BLAME_UNWIND_MACHINE_X86_64_H
#define BLAME_UNWIND_MACHINE_X86_64_H

#include <stdbool.h>
#include <string.h>

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind/recipe.h"
#include "unwind/unwinder.h"

#define MACHINE_TRAMPOLINE_BYTES 9     /* mov $15,%rax; syscall */
#define MACHINE_HAS_LINK         false /* true if a call leaves its return address in a register */
#define MACHINE_START                  /* compiler attributes of the function that starts a walk */

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, RIP };
_Static_assert(RDI == UNWIND_ARGUMENT, "RDI holds the first argument of a call");
enum { MACHINE_IP = RIP, MACHINE_SP = RSP, MACHINE_FP = RBP };

_Static_assert(RIP == UNWIND_REGISTERS - 1, "the registers are numbered as in libunwind");

static inline void machine_load(struct unwinder *unwinder, const ucontext_t *context)
{
    static const int from[UNWIND_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                               REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                               REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (int i = 0; i < UNWIND_REGISTERS; i++)
        unwinder->registers[i] = (uintptr_t)context->uc_mcontext.gregs[from[i]];
}

/* Loads the registers of a function's caller from the function's frame. Only rbp, rsp and rip become known. */
static inline void machine_load_above(uintptr_t *registers, const uintptr_t *frame)
{
    registers[RBP] = frame[0];
    registers[RIP] = frame[1];
    registers[RSP] = (uintptr_t)(frame + 2);
}

/* Loads the registers that the caller of the function in which this is inlined will have after the return. */
static inline __attribute__((always_inline)) void machine_load_here(uintptr_t *registers)
{
    __asm__("movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\tmovq %%r14, %3\n\tmovq %%r15, %4"
            : "=m"(registers[RBX]), "=m"(registers[R12]), "=m"(registers[R13]), "=m"(registers[R14]),
              "=m"(registers[R15]));
    machine_load_above(registers, __builtin_frame_address(0));
}

/* Returns false: libunwind can step from a handler to the interrupted code. */
static inline bool machine_leave_handler(struct unwinder *unwinder, struct unwind_registers *caller)
{
    (void)unwinder, (void)caller;
    return false;
}

static inline uintptr_t machine_strip(uintptr_t return_address)
{
    return return_address;
}

/* Returns the address to which signal handlers return. [init] */
static inline uintptr_t machine_trampoline(int signal)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } action = {0};
    syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof(action.mask));
    return (uintptr_t)action.restorer;
}

#define MACHINE_SPIN_BYTES 7u /* length of the code that machine_is_spinning() reads, before and after `at` */

static inline bool machine_is_tpause(const unsigned char *end)
{
    const unsigned char *prefix = end[-4] == 0x41 ? end - 5 : end - 4; /* a register from r8 on has a prefix, too */
    return end[-3] == 0x0f && (end[-1] & 0xf8) == 0xf0 && (*prefix == 0x66 || *prefix == 0xf2);
}

/* Returns true if the interrupted instruction is or follows a pause, tpause or umwait, or follows the system call
 * sched_yield. A loop that waits spends nearly all its time there; one with a single pause, on some processors half. */
static inline bool machine_is_spinning(const unsigned char *at)
{
    static const unsigned char yield[] = {0xb8, SYS_sched_yield, 0, 0, 0, 0x0f, 0x05}; /* mov; syscall */
    _Static_assert(sizeof(yield) == MACHINE_SPIN_BYTES, "the longest code");
    uint16_t last, next, pause = 0x90f3, syscall = 0x050f;
    memcpy(&last, at - sizeof(last), sizeof(last));
    memcpy(&next, at, sizeof(next));
    if (last == pause || next == pause)
        return true;
    if (last == syscall)
        return memcmp(at - sizeof(yield), yield, sizeof(yield)) == 0;
    return (last & 0xff) == 0xae && machine_is_tpause(at);
}

#endif
