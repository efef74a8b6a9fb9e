/* What differs between machines when a call is put back: restart_machine_x86_64.c, restart_machine_aarch64.c.
 * Internal to this room. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_MACHINE_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_MACHINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/kernel.h"
#include "restart_state.h"

#define RESTART_OF_ROOM __attribute__((visibility("hidden")))

/* ---- the machine code around an interrupted system call ---- */

enum {
    RESTART_DECODE_NOT_A_CALL = -2, /* no syscall instruction there */
    /* a syscall instruction whose number is not in the code, as in syscall() */
    RESTART_DECODE_NO_NUMBER = -1,
};

/* Returns the number of the system call right after whose instruction the context is. All signals are
 * blocked. [handler] */
RESTART_OF_ROOM long restart_decode_call_before(const ucontext_t *context);

/* Returns whether the context is about to execute a system call. [handler] */
RESTART_OF_ROOM bool restart_decode_at_syscall(const ucontext_t *context);

/* Returns whether 8 bytes can be read there. The call takes the bytes as signals to block, and unblocks these
 * at once: the handler's own faults must come. [handler] */
static inline bool restart_is_readable(uintptr_t address)
{
    uint64_t mask;
    if (kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)address, (long)&mask, sizeof mask, 0, 0) != 0)
        return false;
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
    return true;
}

/* ---- how a context continues ---- */

/* Returns whether the context is right after a system call. [handler] */
static inline bool restart_is_behind(const ucontext_t *context)
{
#ifdef __x86_64__
    return context->uc_mcontext.gregs[REG_RCX] == context->uc_mcontext.gregs[REG_RIP];
#else
    return restart_decode_call_before(context) != RESTART_DECODE_NOT_A_CALL;
#endif
}

/* Finds the first argument of the call that the context is after, for the functions below and for
 * state->first; returns false if it is lost. [handler] */
RESTART_OF_ROOM bool restart_find_first(struct restart_state *state, const ucontext_t *context);

/* Makes the context repeat its call. [handler] */
RESTART_OF_ROOM void restart_repeat(const struct restart_state *state, ucontext_t *context, long call);

/* Returns where the stub will have its frame. [handler] */
RESTART_OF_ROOM uint64_t restart_frame_place(const struct restart_state *state, const ucontext_t *context);

/* Make the context continue with the job in the stub, or by restart_syscall. Return false if they cannot:
 * with a shadow stack or ThreadSanitizer the handler must be left by rt_sigreturn. [handler] */
RESTART_OF_ROOM bool restart_go_wait(struct restart_state *state, ucontext_t *context);
RESTART_OF_ROOM bool restart_go_kernel(struct restart_state *state, ucontext_t *context);

/* Leaves the handler as the two functions above have decided. Does not always return. [handler] */
RESTART_OF_ROOM void restart_machine_leave(struct restart_state *state, ucontext_t *context);

/* ---- the assembly ---- */

enum {
    RESTART_RED_ZONE_BYTES = 128, /* bytes below the stack pointer that belong to the program (x86-64 ABI) */
    RESTART_FRAME_BYTES = 232,
    RESTART_CONTEXT_BYTES = 304, /* bytes of a ucontext_t, up to its signal mask (x86-64) */
};

/* Labels, by ascending address. restart_machine_x86_64.c and restart_machine_aarch64.c say what holds between
 * them. */
extern const char restart_wait_enter[] RESTART_OF_ROOM;
extern const char restart_wait_done[] RESTART_OF_ROOM;
extern const char restart_wait_stored[] RESTART_OF_ROOM;
#ifdef __aarch64__
extern const char restart_wait_answered[] RESTART_OF_ROOM;
#endif
extern const char restart_wait_leave[] RESTART_OF_ROOM;
extern const char restart_wait_end[] RESTART_OF_ROOM;

#ifdef __x86_64__
extern const char restart_resume_rcx[] RESTART_OF_ROOM;
extern const char restart_resume_switched[] RESTART_OF_ROOM;
extern const char restart_resume_end[] RESTART_OF_ROOM;

/* Continues a context by restart_syscall, without rt_sigreturn. words: its first RESTART_CONTEXT_BYTES, not
 * on the interrupted stack; place: where on that stack they are copied to; fpregs: the vector registers.
 * [handler] */
RESTART_OF_ROOM void restart_resume(uint64_t place, const uint64_t *words, const void *fpregs)
    __attribute__((noreturn));
#else
struct restart_frame;

/* Does the job in the place of the handler that got the context, and leaves that handler. [handler] */
RESTART_OF_ROOM void restart_wait(ucontext_t *context, const struct restart_frame *job) __attribute__((noreturn));
/* Leaves that handler. [handler] */
RESTART_OF_ROOM void restart_finish(ucontext_t *context) __attribute__((noreturn));
#endif

#endif
