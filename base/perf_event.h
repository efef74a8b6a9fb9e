/* Counters of the kernel's performance events, behind one narrow file: a group of them counts for the thread
 * that opened it. Calls tagged [handler] are plain system calls; they may set errno. */
#ifndef BLAME_BASE_PERF_EVENT_H
#define BLAME_BASE_PERF_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define PERF_GROUP_EVENTS 16u /* most of one group */
#define PERF_EVENT_BYTES  256u

/* What the kernel is to count: a struct perf_event_attr, in room that its later versions need. */
struct perf_event {
    _Alignas(8) unsigned char attr[PERF_EVENT_BYTES];
};

/* Events that are counted together. id: the kernel's own number of the first one; the program may close
 * descriptors that it does not know, and get their numbers for its own files. */
struct perf_group {
    uint32_t count;
    int fd[PERF_GROUP_EVENTS];
    uint64_t id;
};

/* Whether the event is a clock of the kernel, in nanoseconds, which overflows by a timer. [init] */
bool perf_event_is_clock(const struct perf_event *event);

/* Leaves out what the kernel does: all that unprivileged users may have counted. [init] */
void perf_event_user_only(struct perf_event *event);

/* Begins to count for the calling thread, and for no other. False with errno set: nothing is counted. [owner] */
bool perf_group_open(struct perf_group *group, const struct perf_event *events, uint32_t count);

/* Counts so far, by one read(2) after one ioctl(2) that proves whose descriptor it is. False: they cannot be
 * had any more. Other threads may read, too. [handler] */
bool perf_group_read(const struct perf_group *group, uint64_t *values);

/* Closes what is still the group's own. [owner] */
void perf_group_close(struct perf_group *group);

/* An event that sends the signal to the calling thread, with descriptor group->fd[0] in si_fd, once it has
 * counted `period` more, and then stands still until it is armed again. It begins standing still. [owner] */
bool perf_overflow_open(struct perf_group *group, const struct perf_event *event, uint64_t period, int signal);
void perf_overflow_arm(const struct perf_group *group); /* one ioctl(2) [handler] */

/* No overflows after the one that is under way; any thread may. [any] */
void perf_overflow_stop(const struct perf_group *group);

#endif
