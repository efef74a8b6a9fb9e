/* Calls that return after a part when a signal comes, with the number of bytes moved; on a blocking pipe or
 * socket they would have moved all. Internal to restart.c. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_REST_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_REST_H

#include <stdbool.h>
#include <stdint.h>

struct restart_frame;

enum restart_rest {
    REST_NONE,    /* the call is over: nothing is left, or it moves what is available */
    REST_IS_LEFT, /* the call would have continued */
    REST_LIMITED, /* the call would have continued, up to its socket's time limit */
};

/* Returns what is left of the job's call, which has returned `moved`, and sets what the stub waits for first.
 * At most six system calls, none of which waits (fstat, fcntl, getsockopt). [handler] */
__attribute__((visibility("hidden"))) enum restart_rest restart_find_rest(struct restart_frame *job, uint64_t moved);

/* Returns whether a job with an unknown first argument may have something left. Short reads are common and
 * hardly ever have. [handler] */
__attribute__((visibility("hidden"))) bool restart_may_have_rest(const struct restart_frame *job, uint64_t moved);

/* Returns whether the job's call, which has continued once, must continue again. No system call. [handler] */
__attribute__((visibility("hidden"))) bool restart_has_rest(const struct restart_frame *job, uint64_t moved);

/* Makes the job's call move the rest; its result then includes the rest. A write to a socket continues as a
 * send. [handler] */
__attribute__((visibility("hidden"))) void restart_take_rest(struct restart_frame *job, uint64_t moved);

#endif
