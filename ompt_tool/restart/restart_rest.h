/* Finds calls that moved only a part of their bytes because a signal came. Such a call returns the number of
 * bytes moved; without the signal, on a blocking pipe or socket, it would have moved all. Internal to
 * restart.c. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_REST_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_REST_H

#include <stdbool.h>
#include <stdint.h>

struct restart_frame;

enum restart_rest {
    REST_NONE,    /* the call is complete: no bytes are left, or it moves only what is available */
    REST_IS_LEFT, /* bytes are left, and without the signal the call would have continued */
    REST_LIMITED, /* the same, but only until the socket's time limit */
};

/* Returns what is left of the job's call, which has returned `moved`. Also sets job->ready, the condition for
 * which the stub waits first. Makes at most six system calls (fstat, fcntl, getsockopt), none of which waits.
 * [handler] */
__attribute__((visibility("hidden"))) enum restart_rest restart_find_rest(struct restart_frame *job, uint64_t moved);

/* Returns true if the job's call may have left bytes, for a job whose first argument is unknown. For read(),
 * returns false, because short reads are common and hardly ever leave bytes. [handler] */
__attribute__((visibility("hidden"))) bool restart_may_have_rest(const struct restart_frame *job, uint64_t moved);

/* Returns true if the job's call, which has been continued once, must be continued again. Makes no system
 * call. [handler] */
__attribute__((visibility("hidden"))) bool restart_has_rest(const struct restart_frame *job, uint64_t moved);

/* Makes the job's call move the rest. The result will include the bytes moved before. A write to a socket
 * continues as a send. [handler] */
__attribute__((visibility("hidden"))) void restart_take_rest(struct restart_frame *job, uint64_t moved);

#endif
