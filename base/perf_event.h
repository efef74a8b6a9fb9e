/* Counts events by perf_event_open(2). A group counts events of the thread that opened the group. Functions
 * tagged [handler] are plain system calls and may change errno. */
#ifndef BLAME_BASE_PERF_EVENT_H
#define BLAME_BASE_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define PERF_GROUP_EVENTS 16u /* maximum number of events in a group */
#define PERF_EVENT_BYTES  256u

/* The event to count, as a struct perf_event_attr, with room for longer versions of that structure. */
struct perf_event {
    _Alignas(8) unsigned char attr[PERF_EVENT_BYTES];
};

/* Events that are counted together. `id` is the kernel's number of the first event. It shows whether a
 * descriptor is still ours: the program may close descriptors that it does not know, and then get the same
 * numbers for its own files. */
struct perf_group {
    uint32_t count;
    int fd[PERF_GROUP_EVENTS];
    uint64_t id;
};

/* Returns true if the event is a clock of the kernel, which counts ns and overflows by a timer. [init] */
bool perf_event_is_clock(const struct perf_event *event);

/* Excludes what happens in the kernel, which unprivileged users may not count. [init] */
void perf_event_user_only(struct perf_event *event);

/* Starts counting for the calling thread. Returns false with errno set if the events cannot be counted.
 * [owner] */
bool perf_group_open(struct perf_group *group, const struct perf_event *events, uint32_t count);

/* Reads the counts. Makes two system calls, the first of which checks that the descriptor is still ours.
 * Returns false if the counts are no longer available. Any thread may read. [handler] */
bool perf_group_read(const struct perf_group *group, uint64_t *values);

/* Closes the group's descriptors, unless the program has reused their numbers. [owner] */
void perf_group_close(struct perf_group *group);

/* Opens an event that sends `signal` to the calling thread after `period` counts, with group->fd[0] in si_fd.
 * The event counts only after perf_overflow_arm(), and stops after each signal. Returns false with errno set
 * on failure. [owner] */
bool perf_overflow_open(struct perf_group *group, const struct perf_event *event, uint64_t period, int signal);
/* lets the event count until its next signal; makes one system call [handler] */
void perf_overflow_arm(const struct perf_group *group);

/* Makes the event stop counting. A signal that was sent before may still arrive. [any] */
void perf_overflow_stop(const struct perf_group *group);

#endif
