/* Reads the machine code around an interrupted system call. A file for each machine. Internal to ompt_tool/restart/restart.c. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_DECODE_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_DECODE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/kernel.h"

enum {
    RESTART_DECODE_NOT_A_CALL = -2, /* no syscall instruction there */
    RESTART_DECODE_NO_NUMBER = -1,  /* one, but its number is not in the code, as in syscall() */
};

/* Number of the system call whose instruction the context is right behind. All signals blocked. [handler] */
__attribute__((visibility("hidden"))) long restart_decode_call_before(const ucontext_t *context);

/* Whether it is about to execute a system call. [handler] */
__attribute__((visibility("hidden"))) bool restart_decode_at_syscall(const ucontext_t *context);

/* Whether 8 bytes can be read there. What they block, as a signal mask, is let go at once: the handler's own faults must come. [handler] */
static inline bool restart_is_readable(uintptr_t address)
{
    uint64_t mask;
    if (kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)address, (long)&mask, sizeof mask, 0, 0) != 0)
        return false;
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
    return true;
}

#endif
