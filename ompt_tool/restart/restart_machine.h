/* The parts of this room that depend on the machine: restart_machine_x86_64.c, restart_machine_aarch64.c.
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
    RESTART_DECODE_CANCELLED = -3,  /* a call of a thread that is to be cancelled (x86-64, since glibc 2.41) */
    RESTART_DECODE_NOT_A_CALL = -2, /* there is no syscall instruction */
    /* there is a syscall instruction, but the code does not contain the call's number, as in libc's syscall() if
     * libblame-pthreads.so is not its caller */
    RESTART_DECODE_NO_NUMBER = -1,
};

/* Returns the number of the system call that the context has just made, or a RESTART_DECODE value. All
 * signals must be blocked. [handler] */
RESTART_OF_ROOM long restart_decode_call_before(const ucontext_t *context);

/* Returns true if the context's next instruction is a system call. [handler] */
RESTART_OF_ROOM bool restart_decode_at_syscall(const ucontext_t *context);

/* Returns true if 8 bytes can be read at the address. A system call reads them there as a set of signals to
 * block. These signals are unblocked at once, because the handler's own faults must be delivered. [handler] */
static inline bool restart_is_readable(uintptr_t address)
{
    uint64_t mask;
    if (kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)address, (long)&mask, sizeof mask, 0, 0) != 0)
        return false;
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
    return true;
}

/* ---- how a context continues ---- */

/* Returns true if the context is directly after a system call. [handler] */
static inline bool restart_is_behind(const ucontext_t *context)
{
#ifdef __x86_64__
    return context->uc_mcontext.gregs[REG_RCX] == context->uc_mcontext.gregs[REG_RIP];
#else
    return restart_decode_call_before(context) != RESTART_DECODE_NOT_A_CALL;
#endif
}

/* Finds the first argument of the call that the context has just made, and stores it in state->first for the
 * functions below. Returns false if the argument is lost. [handler] */
RESTART_OF_ROOM bool restart_find_first(struct restart_state *state, const ucontext_t *context);

/* Makes the context repeat its call. [handler] */
RESTART_OF_ROOM void restart_repeat(const struct restart_state *state, ucontext_t *context, long call);

/* Returns the address at which the stub's frame will be. [handler] */
RESTART_OF_ROOM uint64_t restart_frame_place(const struct restart_state *state, const ucontext_t *context);

/* restart_go_wait() makes the context continue in the stub with state->job; restart_go_kernel() makes it
 * continue by restart_syscall. Both return false if this is impossible, because a shadow stack or
 * ThreadSanitizer requires that the handler end by rt_sigreturn. [handler] */
RESTART_OF_ROOM bool restart_go_wait(struct restart_state *state, ucontext_t *context);
RESTART_OF_ROOM bool restart_go_kernel(struct restart_state *state, ucontext_t *context);

/* Leaves the handler in the way that restart_go_wait() or restart_go_kernel() has prepared. May not return.
 * [handler] */
RESTART_OF_ROOM void restart_machine_leave(struct restart_state *state, ucontext_t *context);

/* ---- the assembly ---- */

enum {
    /* number of bytes below the stack pointer that belong to the program (x86-64 ABI) */
    RESTART_RED_ZONE_BYTES = 128,
    RESTART_FRAME_BYTES = 232,
    /* size in bytes of a ucontext_t, up to and including its signal mask (x86-64) */
    RESTART_CONTEXT_BYTES = 304,
};

/* Labels in the order of their addresses. restart_machine_x86_64.c and restart_machine_aarch64.c say what
 * holds between them. */
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

/* Continues a context by restart_syscall, without rt_sigreturn. `words` is the start of the context,
 * RESTART_CONTEXT_BYTES long, which must not be on the interrupted stack. `place` is the address on that
 * stack to which these words are copied. `fpregs` are the vector registers. [handler] */
RESTART_OF_ROOM void restart_resume(uint64_t place, const uint64_t *words, const void *fpregs)
    __attribute__((noreturn));
#else
struct restart_frame;

/* Called with the context that a handler received: does the job in place of that handler, and then leaves the
 * handler. [handler] */
RESTART_OF_ROOM void restart_wait(ucontext_t *context, const struct restart_frame *job) __attribute__((noreturn));
/* Leaves the handler that received this context. [handler] */
RESTART_OF_ROOM void restart_finish(ucontext_t *context) __attribute__((noreturn));
#endif

#endif
