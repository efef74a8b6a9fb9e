/* A thread's state for restart.c and its assembly code, and access to the signal mask of an interrupted
 * context. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_STATE_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_STATE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

/* The stub's data, on the thread's stack while the stub waits. The assembly code uses the offsets of the
 * fields. */
struct restart_frame {
    uint64_t state;           /* address of the thread's restart_state */
    uint64_t pc;              /* address at which the program continues after the call */
    uint64_t program_args[6]; /* the program's arguments, unchanged */
    uint64_t call;            /* the call that the stub makes, followed by that call's arguments */
    uint64_t args[6];
    uint64_t result;
    uint64_t program_mask; /* signal mask to restore after the call */
    uint64_t wait_mask;    /* signal mask during the call */
    uint64_t wait_mask_arg[2];
    /* time limit for the kernel, unless the limit is in the program's structure */
    struct timespec left;
    uint64_t deadline_ns;  /* end of the call's time in ns on CLOCK_MONOTONIC; UINT64_MAX: no limit */
    uint64_t unmask_first; /* 1: the call cannot set the signal mask, so signals are unblocked before it */
    /* address of the program's structure in which the kernel keeps the remaining time; 0: none */
    uint64_t program_left;
    /* result to return after the deadline if the kernel would return another one; 0: none */
    uint64_t result_at_end;
    /* what the program's call had already done (bytes moved, entries submitted), which is returned in any
     * case; 0: nothing */
    uint64_t result_known;
    /* the condition for which the stub waits before the call; events 0: none. If the connection has ended,
     * the stub makes no call. */
    struct pollfd ready;
    /* number of bytes that can still be received from an ended connection; set by the stub */
    uint64_t received;
};

/* The state of one thread. Only that thread writes to it: in its handler, and in the stub while all signals
 * are blocked. */
struct restart_state {
    /* the baseline: the last time at which the thread is known to have been running */
    struct timespec base_time;
    struct rusage base_usage; /* resources that the thread had used at base_time */
    bool base_valid;
    bool waiting;   /* true if this delivery interrupted the stub, whose work is in `job` */
    bool sanitized; /* true if the program uses ThreadSanitizer, whose signal handler may call the tool's */
    bool will_wait; /* true if the thread continues in the stub after this delivery */
    /* true if a call was interrupted whose remaining time depends on the baseline: the longer ago the last sample,
     * the later the call may end */
    bool needs_baseline;
    int unknown_call; /* number of the last call for which the result was RESTART_UNKNOWN; -1: unknown */
    uint64_t own_signals;
    uint64_t first; /* first argument of the call that is to be continued */
    struct restart_frame job;
    /* aarch64: context through which the interrupted stub leaves; NULL: no stub was interrupted */
    ucontext_t *outer;
    /* context in which restart_leave() continues without returning (x86-64: by restart_syscall); NULL: none */
    ucontext_t *resume;
};

/* Returns the set of signals that the interrupted code blocks. The kernel's signal set is the first eight
 * bytes of the C library's. [handler] */
static inline uint64_t restart_mask_of(const ucontext_t *context)
{
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof(mask));
    return mask;
}

static inline void restart_set_mask(ucontext_t *context, uint64_t mask) /* [handler] */
{
    memcpy(&context->uc_sigmask, &mask, sizeof(mask));
}

#endif
