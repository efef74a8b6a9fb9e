/* The two pieces of assembly of restart.c, and its system calls. Internal to this room. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_STUB_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_STUB_H

#if defined(__x86_64__) && defined(__LP64__)
#define RESTART_SUPPORTED 1

#include <stdint.h>
#include <ucontext.h>

enum {
    RESTART_RED_ZONE_BYTES = 128, /* below the stack pointer, the program's (x86-64 ABI) */
    RESTART_FRAME_BYTES = 208,
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

/* A system call that leaves errno alone; the value is the kernel's. [handler] */
static inline long restart_syscall6(long call, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                    uint64_t f)
{
    register uint64_t r10 __asm__("r10") = d;
    register uint64_t r8 __asm__("r8") = e;
    register uint64_t r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(call), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
#endif
