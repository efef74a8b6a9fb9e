/* What differs between machines when a call is put back: restart_machine_x86_64.c, restart_machine_aarch64.c. Internal to this room. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_MACHINE_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "restart_decode.h"
#include "restart_state.h"

#define RESTART_OF_ROOM __attribute__((visibility("hidden")))

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

#endif
