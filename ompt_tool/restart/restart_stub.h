/* The two pieces of assembly of restart.c. Internal to this room. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_STUB_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_STUB_H

#include <stdint.h>
#include <ucontext.h>

enum {
    RESTART_RED_ZONE_BYTES = 128, /* below the stack pointer, the program's (x86-64 ABI) */
    RESTART_FRAME_BYTES = 232,
};

#define RESTART_HIDDEN __attribute__((visibility("hidden")))

/* Labels, in order of address; see restart_stub.c for what holds between them. */
extern const char restart_wait_enter[] RESTART_HIDDEN;
extern const char restart_wait_unmasked[] RESTART_HIDDEN;
extern const char restart_wait_done[] RESTART_HIDDEN;
extern const char restart_wait_stored[] RESTART_HIDDEN;
extern const char restart_wait_leave[] RESTART_HIDDEN;
extern const char restart_wait_end[] RESTART_HIDDEN;
extern const char restart_resume_unmasked[] RESTART_HIDDEN;
extern const char restart_resume_rcx[] RESTART_HIDDEN;
extern const char restart_resume_switched[] RESTART_HIDDEN;
extern const char restart_resume_end[] RESTART_HIDDEN;

/* Continues the context by restart_syscall, without rt_sigreturn. [handler] */
RESTART_HIDDEN void restart_resume(ucontext_t *context) __attribute__((noreturn));

#endif
