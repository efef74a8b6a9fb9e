/* The assembly of restart.c, of each machine. Internal to this room. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_STUB_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_STUB_H

#include <stdint.h>
#include <ucontext.h>

enum {
    RESTART_RED_ZONE_BYTES = 128, /* below the stack pointer, the program's (x86-64 ABI) */
    RESTART_FRAME_BYTES = 232,
    RESTART_CONTEXT_BYTES = 304, /* of a ucontext_t, up to its signal mask (x86-64) */
};

#define RESTART_HIDDEN __attribute__((visibility("hidden")))

/* Labels, in order of address; see restart_stub_x86_64.c and restart_stub_aarch64.c for what holds between them. */
extern const char restart_wait_enter[] RESTART_HIDDEN;
#ifdef __x86_64__
extern const char restart_wait_unmasked[] RESTART_HIDDEN;
#endif
extern const char restart_wait_done[] RESTART_HIDDEN;
extern const char restart_wait_stored[] RESTART_HIDDEN;
#ifdef __aarch64__
extern const char restart_wait_answered[] RESTART_HIDDEN;
#endif
extern const char restart_wait_leave[] RESTART_HIDDEN;
extern const char restart_wait_end[] RESTART_HIDDEN;

#ifdef __x86_64__
extern const char restart_resume_unmasked[] RESTART_HIDDEN;
extern const char restart_resume_rcx[] RESTART_HIDDEN;
extern const char restart_resume_switched[] RESTART_HIDDEN;
extern const char restart_resume_end[] RESTART_HIDDEN;

/* Continues a context by restart_syscall, without rt_sigreturn. words: its first RESTART_CONTEXT_BYTES, which are not on the interrupted
 * stack; place: where on that stack they are copied to; fpregs: the vector registers. [handler] */
RESTART_HIDDEN void restart_resume(uint64_t place, const uint64_t *words, const void *fpregs) __attribute__((noreturn));
#else
struct restart_frame;

/* Do the job in the place of the handler that the context was given to, and leave that. [handler] */
RESTART_HIDDEN void restart_wait(ucontext_t *context, const struct restart_frame *job)
    __attribute__((noreturn));
/* Leaves that handler. [handler] */
RESTART_HIDDEN void restart_finish(ucontext_t *context) __attribute__((noreturn));
#endif

#endif
