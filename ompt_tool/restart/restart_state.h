/* What restart.c and its assembly know of a thread, and the signal masks of an interrupted context. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_STATE_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_STATE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

/* What the wait stub needs, on the thread's stack while it waits. The assembly knows the offsets. */
struct restart_frame {
    uint64_t state;           /* the thread's restart_state */
    uint64_t pc;              /* where the program goes on */
    uint64_t program_args[6]; /* as the program left them */
    uint64_t call;            /* the call that waits, and its arguments */
    uint64_t args[6];
    uint64_t result;
    uint64_t program_mask; /* to restore after the call */
    uint64_t wait_mask;    /* valid during the call */
    uint64_t wait_mask_arg[2];
    struct timespec left;   /* time limit given to the kernel, unless it lives in the program's structure */
    uint64_t deadline_ns;   /* CLOCK_MONOTONIC; UINT64_MAX: none */
    uint64_t unmask_first;  /* the call cannot set the mask: signals are let in before it */
    uint64_t program_left;  /* the program's structure in which the kernel keeps the remainder, or 0 */
    uint64_t result_at_end; /* what we answer after the deadline when the kernel would not, or 0 */
    uint64_t
        result_known; /* what the program's call has done already, and returns with what comes, if any does; or 0 */
    struct pollfd
        ready; /* the stub waits for this before the call, and makes none of a connection that has ended; events 0: no */
    uint64_t received; /* room for the stub: the bytes that such a connection still has */
};

/* One a thread; written by that thread only: by its handler, and by the stub with all signals blocked. No
 * allocation. */
struct restart_state {
    struct timespec base_time; /* the last instant at which the thread was seen running, */
    struct rusage base_usage;  /* and what it had used by then */
    bool base_valid;
    bool waiting;     /* this delivery came in the stub: job is what it did */
    bool sanitized;   /* the program has ThreadSanitizer, whose handler may be around ours */
    bool will_wait;   /* this delivery ends in the stub */
    int unknown_call; /* number of the last call that gave RESTART_UNKNOWN, -1 when even that is unknown */
    uint64_t own_signals;
    uint64_t first; /* argument of the call that is to be put back */
    struct restart_frame job;
    ucontext_t *outer;  /* aarch64: this delivery came while restart_leave() was at work on that context */
    ucontext_t *resume; /* restart_leave() is to continue this one by restart_syscall */
};

/* The signals that the interrupted code blocks: the kernel's set is the first eight bytes of the library's. [handler] */
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
