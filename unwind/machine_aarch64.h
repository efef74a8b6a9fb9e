/* unwind/machine.h for aarch64. A call leaves its return address in x30, the link register. A function that
 * makes calls saves x30, usually in a frame record {x29, x30}, to which x29, the frame pointer, points.
 *
 * All [handler]. */
#ifndef BLAME_UNWIND_MACHINE_AARCH64_H
#define BLAME_UNWIND_MACHINE_AARCH64_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/os.h"
#include "unwind/recipe.h"
#include "unwind/unwinder.h"

#define MACHINE_TRAMPOLINE_BYTES 8 /* mov x8,#139; svc #0 */
#define MACHINE_HAS_LINK         true
/* the function must have a frame of its own, further inward than its caller's */
#define MACHINE_START __attribute__((noinline))

enum { MACHINE_FP = 29, MACHINE_LINK = 30, MACHINE_SP = 31, MACHINE_IP = 32 };

_Static_assert(MACHINE_IP == UNWIND_REGISTERS - 1, "the registers are numbered as in libunwind");

static inline void machine_load(struct unwinder *unwinder, const ucontext_t *context)
{
    for (int i = 0; i <= MACHINE_LINK; i++)
        unwinder->registers[i] = context->uc_mcontext.regs[i];
    unwinder->registers[MACHINE_SP] = context->uc_mcontext.sp;
    unwinder->registers[MACHINE_IP] = context->uc_mcontext.pc;
    unwinder->link = unwinder->registers[MACHINE_LINK];
}

/* Loads the registers of a function's caller from the function's frame record. The record does not tell where
 * the function's frame ends, so the address of the caller's own record is used as the caller's stack pointer.
 * This usually works: GCC puts the record at the start of a frame, and to unwind clang's code, x29 is enough. */
static inline void machine_load_above(uintptr_t *registers, const uintptr_t *frame)
{
    registers[MACHINE_FP] = frame[0];
    registers[MACHINE_IP] = frame[1];
    registers[MACHINE_SP] = frame[0];
}

/* Loads the registers of the function in which this is inlined. The first step of the walk leads to that
 * function's caller. */
static inline __attribute__((always_inline)) void machine_load_here(uintptr_t *registers)
{
    uintptr_t *from = registers + 19;
    __asm__ volatile(
        "stp x19, x20, [%2]\n\tstp x21, x22, [%2, 16]\n\tstp x23, x24, [%2, 32]\n\tstp x25, x26, [%2, 48]\n\t"
        "stp x27, x28, [%2, 64]\n\tstp x29, x30, [%2, 80]\n\tmov %0, sp\n\tadr %1, ."
        : "=&r"(registers[MACHINE_SP]), "=&r"(registers[MACHINE_IP])
        : "r"(from)
        : "memory");
}

/* Removes the signature that -mbranch-protection adds to a return address. On processors without pointer
 * authentication, the instruction does nothing. */
static inline uintptr_t machine_strip(uintptr_t return_address)
{
    register uintptr_t link __asm__("x30") = return_address;
    __asm__("hint #7" : "+r"(link)); /* xpaclri */
    return link;
}

/* Loads the interrupted registers from the signal frame (siginfo_t and ucontext_t). That frame begins at the
 * stack pointer with which the handler started. */
static inline bool machine_leave_handler(struct unwinder *unwinder, struct unwind_registers *caller)
{
    uintptr_t context = unwinder->at.stack + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext);
    struct {
        unsigned long long fault_address, registers[31], stack, ip;
    } is;
    _Static_assert(offsetof(mcontext_t, regs) == sizeof(is.fault_address), "the registers are laid out as in the C "
                                                                           "library's ucontext_t");
    _Static_assert(offsetof(mcontext_t, pc) + sizeof(is.ip) == sizeof(is), "the registers are laid out as in the C "
                                                                           "library's ucontext_t");
    if (!os_copy_memory(&is, context, sizeof(is)))
        return false;
    *caller = (struct unwind_registers){.ip = is.ip, .stack = is.stack, .rbp = is.registers[MACHINE_FP]};
    unwinder->link = is.registers[MACHINE_LINK];
    return true;
}

/* Returns the address to which signal handlers return. It is in memory that the kernel provides, and is found
 * by running a handler. [init] */
uintptr_t machine_trampoline(int signal);

#define MACHINE_SPIN_BYTES 8u /* length of the code that machine_is_spinning() reads, before and after `at` */

static inline bool machine_is_hint(uint32_t instruction)
{
    return instruction == 0xd503203f || instruction == 0xd503205f || instruction == 0xd5033fdf;
}

/* Returns true if the interrupted instruction is or follows yield, wfe or isb, or follows the system call
 * sched_yield. A loop that waits spends nearly all its time there if it uses isb or wfe; yield takes no time, so of a
 * loop with yield only a part is found. */
static inline bool machine_is_spinning(const unsigned char *at)
{
    uint32_t code[3]; /* the interrupted instruction is the last one */
    memcpy(code, at - MACHINE_SPIN_BYTES, sizeof(code));
    return machine_is_hint(code[1]) || machine_is_hint(code[2]) ||
           (code[0] == 0xd2800f88 && code[1] == 0xd4000001); /* mov x8,#124; svc #0 */
}

#endif
