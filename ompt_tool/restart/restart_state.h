/* The state of a thread for restart.c and its assembly, and access to the signal mask of an interrupted
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

/* The stub's data, on the thread's stack while the stub waits. The assembly knows the offsets. */
struct restart_frame {
    uint64_t state;           /* address of the thread's restart_state */
    uint64_t pc;              /* address at which the program continues after the call */
    uint64_t program_args[6]; /* the program's arguments, unchanged */
    uint64_t call;            /* the call that the stub makes, and its arguments */
    uint64_t args[6];
    uint64_t result;
    uint64_t program_mask; /* mask to restore after the call */
    uint64_t wait_mask;    /* mask during the call */
    uint64_t wait_mask_arg[2];
    /* time limit passed to the kernel, unless the limit is in the program's structure */
    struct timespec left;
    uint64_t deadline_ns;  /* in ns of CLOCK_MONOTONIC; UINT64_MAX: none */
    uint64_t unmask_first; /* 1: the call cannot set the mask, so signals are unblocked before it */
    /* address of the program's structure in which the kernel keeps the remaining time, or 0 */
    uint64_t program_left;
    uint64_t result_at_end; /* result after the deadline, if the kernel would not return it; or 0 */
    /* what the program's call had already done (bytes moved, entries submitted), returned in any case; or 0 */
    uint64_t result_known;
    /* what the stub waits for before the call; events 0: nothing. If the connection has ended, the stub makes
     * no call. */
    struct pollfd ready;
    uint64_t received; /* filled in by the stub: number of bytes that such a connection still has */
};

/* The state of one thread. Only that thread writes it: in its handler, and in the stub while all signals are
 * blocked. */
struct restart_state {
    struct timespec base_time; /* the baseline: last time at which the thread was known to be running */
    struct rusage base_usage;  /* resources that the thread had used by then */
    bool base_valid;
    bool waiting;     /* this delivery interrupted the stub; job is the stub's work */
    bool sanitized;   /* the program uses ThreadSanitizer, whose signal handler may call the tool's */
    bool will_wait;   /* this delivery ends in the stub */
    int unknown_call; /* number of the last call for which the answer was RESTART_UNKNOWN; -1: unknown */
    uint64_t own_signals;
    uint64_t first; /* first argument of the call to continue */
    struct restart_frame job;
    /* aarch64: context with which the interrupted stub leaves; NULL: no stub was interrupted */
    ucontext_t *outer;
    /* context that restart_leave() continues without returning (x86-64: by restart_syscall); NULL: none */
    ucontext_t *resume;
};

/* Returns the signals that the interrupted code blocks. The kernel's signal set is the first eight bytes of
 * the library's. [handler] */
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
