/* What differs between machines when a call is put back: restart_machine_x86_64.c, restart_machine_aarch64.c. Internal to this room. */
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
    RESTART_DECODE_NO_NUMBER = -1,  /* one, but its number is not in the code, as in syscall() */
};

/* Number of the system call whose instruction the context is right behind. All signals blocked. [handler] */
RESTART_OF_ROOM long restart_decode_call_before(const ucontext_t *context);

/* Whether it is about to execute a system call. [handler] */
RESTART_OF_ROOM bool restart_decode_at_syscall(const ucontext_t *context);

/* Whether 8 bytes can be read there. What they block, as a signal mask, is let go at once: the handler's own faults must come. [handler] */
static inline bool restart_is_readable(uintptr_t address)
{
    uint64_t mask;
    if (kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)address, (long)&mask, sizeof mask, 0, 0) != 0)
        return false;
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
    return true;
}

/* ---- how a context goes on ---- */

/* Whether the context stands right behind a system call. [handler] */
static inline bool restart_is_behind(const ucontext_t *context)
{
#ifdef __x86_64__
    return context->uc_mcontext.gregs[REG_RCX] == context->uc_mcontext.gregs[REG_RIP];
#else
    return restart_decode_call_before(context) != RESTART_DECODE_NOT_A_CALL;
#endif
}

/* Finds the first argument of the call that the context is behind, for the functions below and for state->first; false: it is lost. [handler] */
RESTART_OF_ROOM bool restart_find_first(struct restart_state *state, const ucontext_t *context);

/* The context makes its call again. [handler] */
RESTART_OF_ROOM void restart_repeat(const struct restart_state *state, ucontext_t *context, long call);

/* Where the stub will have its frame. [handler] */
RESTART_OF_ROOM uint64_t restart_frame_place(const struct restart_state *state, const ucontext_t *context);

/* The context goes on with the job in the stub, or by restart_syscall; false: it cannot, for the handler has to be left by rt_sigreturn where
 * there is a shadow stack, or ThreadSanitizer. [handler] */
RESTART_OF_ROOM bool restart_go_wait(struct restart_state *state, ucontext_t *context);
RESTART_OF_ROOM bool restart_go_kernel(struct restart_state *state, ucontext_t *context);

/* Leaves the handler as the two above have decided. Does not always return. [handler] */
RESTART_OF_ROOM void restart_machine_leave(struct restart_state *state, ucontext_t *context);

/* ---- the assembly ---- */

enum {
    RESTART_RED_ZONE_BYTES = 128, /* below the stack pointer, the program's (x86-64 ABI) */
    RESTART_FRAME_BYTES = 232,
    RESTART_CONTEXT_BYTES = 304, /* of a ucontext_t, up to its signal mask (x86-64) */
};

/* Labels, in order of address; see restart_machine_x86_64.c and restart_machine_aarch64.c for what holds between them. */
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

/* Continues a context by restart_syscall, without rt_sigreturn. words: its first RESTART_CONTEXT_BYTES, which are not on the interrupted
 * stack; place: where on that stack they are copied to; fpregs: the vector registers. [handler] */
RESTART_OF_ROOM void restart_resume(uint64_t place, const uint64_t *words, const void *fpregs)
    __attribute__((noreturn));
#else
struct restart_frame;

/* Do the job in the place of the handler that the context was given to, and leave that. [handler] */
RESTART_OF_ROOM void restart_wait(ucontext_t *context, const struct restart_frame *job) __attribute__((noreturn));
/* Leaves that handler. [handler] */
RESTART_OF_ROOM void restart_finish(ucontext_t *context) __attribute__((noreturn));
#endif

#endif
