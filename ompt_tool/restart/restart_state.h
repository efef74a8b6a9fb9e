/* The state of a thread in restart.c and its assembly, and the signal masks of an interrupted context. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_STATE_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_STATE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

/* The stub's data, on the thread's stack while it waits. The assembly knows the offsets. */
struct restart_frame {
    uint64_t state;           /* address of the thread's restart_state */
    uint64_t pc;              /* where the program continues */
    uint64_t program_args[6]; /* the program's arguments, unchanged */
    uint64_t call;            /* the waiting call, and its arguments */
    uint64_t args[6];
    uint64_t result;
    uint64_t program_mask; /* mask to restore after the call */
    uint64_t wait_mask;    /* mask during the call */
    uint64_t wait_mask_arg[2];
    struct timespec left;   /* time limit for the kernel, unless it is in the program's structure */
    uint64_t deadline_ns;   /* CLOCK_MONOTONIC; UINT64_MAX: none */
    uint64_t unmask_first;  /* 1: the call cannot set the mask; signals are unblocked before it */
    uint64_t program_left;  /* the program's structure in which the kernel keeps the remaining time, or 0 */
    uint64_t result_at_end; /* answer after the deadline if the kernel would not give it, or 0 */
    uint64_t result_known;  /* bytes that the program's call has already moved, returned in any case; or 0 */
    struct pollfd
        /* what the stub waits for before the call; if the connection has ended, it makes no call. events 0:
         * nothing */
        ready;
    uint64_t received; /* room for the stub: the bytes that such a connection still has */
};

/* The state of one thread. Only that thread writes it: its handler, and the stub with all signals blocked. No
 * allocation. */
struct restart_state {
    struct timespec base_time; /* last time at which the thread was seen running */
    struct rusage base_usage;  /* what it had used by then */
    bool base_valid;
    bool waiting;     /* this delivery came in the stub; job is the stub's work */
    bool sanitized;   /* whether the program uses ThreadSanitizer, whose handler may call the tool's */
    bool will_wait;   /* this delivery ends in the stub */
    int unknown_call; /* number of the last call that gave RESTART_UNKNOWN; -1: unknown */
    uint64_t own_signals;
    uint64_t first; /* first argument of the call to put back */
    struct restart_frame job;
    ucontext_t *outer;  /* aarch64: the context that restart_leave() was working on when this delivery came */
    ucontext_t *resume; /* the context that restart_leave() continues by restart_syscall */
};

/* Returns the signals that the interrupted code blocks: the kernel's set is the first eight bytes of the
 * library's. [handler] */
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
