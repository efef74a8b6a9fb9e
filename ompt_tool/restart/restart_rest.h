/* Calls that move a part and return how much when a signal comes: of a blocking pipe or socket they would have moved all. Internal to
 * restart.c. */
#ifndef BLAME_OMPT_TOOL_RESTART_RESTART_REST_H
#define BLAME_OMPT_TOOL_RESTART_RESTART_REST_H

#include <stdbool.h>
#include <stdint.h>

struct restart_frame;

enum restart_rest {
    REST_NONE,    /* the call is over: nothing is left, or it moves what there is */
    REST_IS_LEFT, /* it would have gone on */
    REST_LIMITED, /* it would have, until its socket's time limit */
};

/* Of the job's call, which has returned `moved`. Says what the stub is to wait for first. At most six system calls, none of which waits
 * (fstat, fcntl, getsockopt). [handler] */
__attribute__((visibility("hidden"))) enum restart_rest restart_find_rest(struct restart_frame *job, uint64_t moved);

/* The same, of a job whose first argument is not known: whether it may have been. A short read is common, and hardly ever one. [handler] */
__attribute__((visibility("hidden"))) bool restart_may_have_rest(const struct restart_frame *job, uint64_t moved);

/* Whether the job's call, which went on once, is to go on again. No system call. [handler] */
__attribute__((visibility("hidden"))) bool restart_has_rest(const struct restart_frame *job, uint64_t moved);

/* The job's call is to move what is left; its result has the rest. A write to a socket goes on as a send. [handler] */
__attribute__((visibility("hidden"))) void restart_take_rest(struct restart_frame *job, uint64_t moved);

#endif
