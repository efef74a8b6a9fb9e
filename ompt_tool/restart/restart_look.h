/* What an interrupted call tells of the thread's sleep: whether it sleeps, in what kind of call, and until when. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_LOOK_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

/* Whether the thread slept in a system call when the signal came: as the kernel has left it, to be repeated or with -EINTR.
 * Behind restart_enter(). [handler] */
bool restart_is_asleep(const ucontext_t *context);

enum restart_call {
    RESTART_CALL_NONE,
    RESTART_CALL_SHORT, /* never sleeps */
    RESTART_CALL_WAIT,  /* any signal ends it */
    RESTART_CALL_OTHER, /* another one: may sleep, and let signals wait */
};

/* The system call that the thread comes out of, if it has executed nothing since. Behind restart_enter(). [handler] */
enum restart_call restart_call_before(const ucontext_t *context);

/* Some calls come back interrupted even if what they wait for has come: polls whose time is over, and those that look for signals before
 * they look for data (of Unix sockets, flock). 0: that may be; else the time that a poll may take; UINT64_MAX: it is none of them, or not over.
 * As restart_is_asleep(). [handler] */
uint64_t restart_sleep_limit_ns(const ucontext_t *context);

/* When the sleep ends, or ended, that the thread is in or comes out of; 0: nobody knows. Of a nanosleep, of a poll with a limit for which nothing
 * has come yet, and of a futex's wait whose limit has; 0 of other calls. begin_ns: when it began, end_ns: what this has said of the same sleep
 * before; each is 0 if that is not known. All on CLOCK_MONOTONIC. As restart_is_asleep(). [handler] */
uint64_t restart_sleep_end_ns(const ucontext_t *context, uint64_t begin_ns, uint64_t end_ns, uint64_t now_ns);

/* io_uring_enter that has submitted all that it was to submit, and waited. Internal to this room. [handler] */
__attribute__((visibility("hidden"))) bool restart_has_submitted(const ucontext_t *context);

/* Internal to this room. Far limits (a timespec may hold 2^63 s) are none: the sum must not wrap. [handler] */
static inline uint64_t restart_deadline_after(uint64_t begin_ns, struct timespec limit)
{
    const uint64_t far_s = (uint64_t)1 << 32;
    if (limit.tv_sec < 0 || (uint64_t)limit.tv_sec > far_s)
        return UINT64_MAX - 1;
    return begin_ns + (uint64_t)limit.tv_sec * 1000000000u + (uint64_t)limit.tv_nsec;
}

#endif
