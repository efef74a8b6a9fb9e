/* Reads the machine code around an interrupted system call. Internal to ompt_tool/restart/restart.c; x86-64 only. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_DECODE_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_DECODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RESTART_DECODE_NOT_A_CALL = -2, /* no syscall instruction there */
    RESTART_DECODE_NO_NUMBER = -1,  /* one, but its number is not in the code, as in syscall() */
};

/* Number of the system call whose instruction ends at rip. All signals blocked. [handler] */
__attribute__((visibility("hidden"))) long restart_decode_call_before(uintptr_t rip);

/* Whether a syscall instruction begins at rip, which the thread is about to execute. [handler] */
__attribute__((visibility("hidden"))) bool restart_decode_at_syscall(uintptr_t rip);

#endif
