/* Finds calls that returned only a part because a signal came. They return the number of bytes moved; on a
 * blocking pipe or socket they would have moved all. Internal to restart.c. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_REST_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_REST_H

#include <stdbool.h>
#include <stdint.h>

struct restart_frame;

enum restart_rest {
    REST_NONE,    /* the call is over: nothing is left, or it moves only what is available */
    REST_IS_LEFT, /* the call would have continued */
    REST_LIMITED, /* the call would have continued, up to its socket's time limit */
};

/* Returns what is left of the job's call, which has returned `moved`, and sets job->ready, for which the stub
 * waits first. Makes at most six system calls (fstat, fcntl, getsockopt), none of which waits. [handler] */
__attribute__((visibility("hidden"))) enum restart_rest restart_find_rest(struct restart_frame *job, uint64_t moved);

/* Returns true if a job whose first argument is unknown may have a rest. read() does not count: short reads
 * are common and hardly ever have a rest. [handler] */
__attribute__((visibility("hidden"))) bool restart_may_have_rest(const struct restart_frame *job, uint64_t moved);

/* Returns true if the job's call, which has continued once, must continue again. Makes no system call.
 * [handler] */
__attribute__((visibility("hidden"))) bool restart_has_rest(const struct restart_frame *job, uint64_t moved);

/* Makes the job's call move the rest. Its result then includes the bytes moved before. A write to a socket
 * continues as a send. [handler] */
__attribute__((visibility("hidden"))) void restart_take_rest(struct restart_frame *job, uint64_t moved);

#endif
