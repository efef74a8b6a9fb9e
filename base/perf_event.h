/* Counters of the kernel's performance events, behind one narrow file. A group counts for the thread that
 * opened it. Calls tagged [handler] are plain system calls, and may set errno. */
#ifndef BLAME_BASE_PERF_EVENT_H
#define BLAME_BASE_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define PERF_GROUP_EVENTS 16u /* maximum of events in a group */
#define PERF_EVENT_BYTES  256u

/* What the kernel should count: a struct perf_event_attr, with room for its later versions. */
struct perf_event {
    _Alignas(8) unsigned char attr[PERF_EVENT_BYTES];
};

/* Events counted together. `id` is the kernel's own number of the first event. It identifies the event,
 * because the program may close descriptors that it does not know and get their numbers for files of its own. */
struct perf_group {
    uint32_t count;
    int fd[PERF_GROUP_EVENTS];
    uint64_t id;
};

/* Returns true if the event is a kernel clock, in ns, which overflows by a timer. [init] */
bool perf_event_is_clock(const struct perf_event *event);

/* Leaves out what happens in the kernel, because unprivileged users may not count it. [init] */
void perf_event_user_only(struct perf_event *event);

/* Starts counting for the calling thread only. Returns false with errno set if nothing is counted. [owner] */
bool perf_group_open(struct perf_group *group, const struct perf_event *events, uint32_t count);

/* Reads the counts by one read(2), after one ioctl(2) that checks the descriptor's owner. Returns false if
 * they are no longer available. Other threads may call it, too. [handler] */
bool perf_group_read(const struct perf_group *group, uint64_t *values);

/* Closes the descriptors that are still the group's own. [owner] */
void perf_group_close(struct perf_group *group);

/* Opens an event that signals the calling thread after each `period` counts, with descriptor group->fd[0] in
 * si_fd. The event then stops until it is armed again. At first it is stopped. [owner] */
bool perf_overflow_open(struct perf_group *group, const struct perf_event *event, uint64_t period, int signal);
void perf_overflow_arm(const struct perf_group *group); /* costs one ioctl(2) [handler] */

/* Stops overflows after the current one. [any] */
void perf_overflow_stop(const struct perf_group *group);

#endif
