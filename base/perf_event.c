#include "base/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"

_Static_assert(sizeof(struct perf_event_attr) <= PERF_EVENT_BYTES, "a struct perf_event_attr fits into "
                                                                   "PERF_EVENT_BYTES");

bool perf_event_is_clock(const struct perf_event *event)
{
    struct perf_event_attr attr;
    memcpy(&attr, event->attr, sizeof(attr));
    return attr.type == PERF_TYPE_SOFTWARE &&
           (attr.config == PERF_COUNT_SW_TASK_CLOCK || attr.config == PERF_COUNT_SW_CPU_CLOCK);
}

void perf_event_user_only(struct perf_event *event)
{
    struct perf_event_attr attr;
    memcpy(&attr, event->attr, sizeof(attr));
    attr.exclude_kernel = attr.exclude_hv = 1;
    memcpy(event->attr, &attr, sizeof(attr));
}

static int open_perf_event(struct perf_event_attr *attr, int leader)
{
    attr->size = sizeof(*attr);
    int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -1;
    int high = os_high_copy(fd), cause = errno;
    os_close(fd);
    errno = cause;
    return high;
}

static bool owns_perf_event(const struct perf_group *group)
{
    uint64_t id = 0;
    return group->count && syscall(SYS_ioctl, group->fd[0], PERF_EVENT_IOC_ID, &id) == 0 && id == group->id;
}

static bool note_perf_event_id(struct perf_group *group)
{
    return syscall(SYS_ioctl, group->fd[0], PERF_EVENT_IOC_ID, &group->id) == 0;
}

static bool close_perf_group(struct perf_group *group)
{
    int cause = errno;
    for (uint32_t i = group->count; i-- > 0;)
        os_close(group->fd[i]);
    group->count = 0;
    errno = cause;
    return false;
}

bool perf_group_open(struct perf_group *group, const struct perf_event *events, uint32_t count)
{
    uint64_t values[PERF_GROUP_EVENTS];
    group->count = 0;
    for (uint32_t i = 0; i < count && i < PERF_GROUP_EVENTS; i++) {
        struct perf_event_attr attr;
        memcpy(&attr, events[i].attr, sizeof(attr));
        attr.read_format = PERF_FORMAT_GROUP;
        attr.disabled = attr.pinned = i == 0; /* a pinned group counts all the time, or not at all */
        attr.inherit = 0;
        attr.sample_period = 0;
        int fd = open_perf_event(&attr, i ? group->fd[0] : -1);
        if (fd < 0)
            return close_perf_group(group);
        group->fd[group->count++] = fd;
    }
    if (!group->count || !note_perf_event_id(group) ||
        ioctl(group->fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) != 0)
        return close_perf_group(group);
    if (!perf_group_read(group, values)) {
        errno = EBUSY; /* the processor cannot count all these events at the same time */
        return close_perf_group(group);
    }
    return true;
}

bool perf_group_read(const struct perf_group *group, uint64_t *values)
{
    uint64_t words[1 + PERF_GROUP_EVENTS];
    size_t bytes = (1 + group->count) * sizeof(words[0]);
    if (!owns_perf_event(group) || os_read(group->fd[0], words, sizeof(words)) != (ssize_t)bytes)
        return false;
    memcpy(values, words + 1, bytes - sizeof(words[0]));
    return true;
}

void perf_group_close(struct perf_group *group)
{
    if (owns_perf_event(group))
        close_perf_group(group);
    group->count = 0;
}

bool perf_overflow_open(struct perf_group *group, const struct perf_event *event, uint64_t period, int signal)
{
    struct perf_event_attr attr;
    memcpy(&attr, event->attr, sizeof(attr));
    attr.sample_period = period;
    attr.freq = attr.inherit = 0;
    attr.disabled = 1;
    attr.wakeup_events = 1;
    struct f_owner_ex owner = {F_OWNER_TID, os_tid()};
    group->count = 0;
    int fd = open_perf_event(&attr, -1);
    if (fd < 0)
        return false;
    group->fd[group->count++] = fd;
    /* The owner must be set first: if there is no owner, the signal could reach any thread. */
    if (!note_perf_event_id(group) || fcntl(fd, F_SETOWN_EX, &owner) != 0 || fcntl(fd, F_SETSIG, signal) != 0 ||
        fcntl(fd, F_SETFL, O_RDONLY | O_NONBLOCK | O_ASYNC) != 0)
        return close_perf_group(group);
    return true;
}

void perf_overflow_arm(const struct perf_group *group)
{
    if (owns_perf_event(group))
        syscall(SYS_ioctl, group->fd[0], PERF_EVENT_IOC_REFRESH, 1);
}

void perf_overflow_stop(const struct perf_group *group)
{
    if (owns_perf_event(group))
        syscall(SYS_ioctl, group->fd[0], PERF_EVENT_IOC_DISABLE, 0);
}
