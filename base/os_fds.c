#include "base/os_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIGH_FD 400

static int os_open_root_directory(void)
{
    return (int)syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_CLOEXEC);
}

static void os_close_fd_number(int fd)
{
    syscall(SYS_close, fd);
}

/* Returns `wanted`, or half of RLIMIT_NOFILE if that is less. */
static int os_least_fd_number(int wanted)
{
    struct rlimit limit;
    bool low = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < (rlim_t)wanted;
    int least = low ? (int)limit.rlim_cur / 2 : wanted;
    return least > STDERR_FILENO ? least : STDERR_FILENO + 1;
}

static int os_copy_fd_from(int fd, int least)
{
    return (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least);
}

int os_high_copy(int fd)
{
    int high = os_copy_fd_from(fd, os_least_fd_number(HIGH_FD));
    if (high < 0 && errno == EINVAL)
        errno = EMFILE;
    return high;
}

int os_move_high(int fd)
{
    if (fd < 0)
        return fd;
    int high = os_high_copy(fd);
    if (high < 0 && fd > STDERR_FILENO)
        return fd;
    if (high < 0)
        high = os_copy_fd_from(fd, STDERR_FILENO + 1);
    os_close_fd_number(fd);
    return high;
}

void os_expect_high(int count)
{
    struct rlimit limit;
    int end = os_least_fd_number(HIGH_FD) + count, fd = -1, last = -1;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)end)
        end = (int)limit.rlim_cur;
    if ((fd = os_open_root_directory()) >= 0)
        last = os_copy_fd_from(fd, end - 1);
    if (last >= 0)
        os_close_fd_number(last);
    if (fd >= 0)
        os_close_fd_number(fd);
}

void os_take_low(struct os_low_fds *taken)
{
    int end = os_least_fd_number(OS_LOW_FDS), fd = os_open_root_directory();
    for (taken->count = 0; fd >= 0 && fd < end; fd = os_copy_fd_from(taken->fd[0], 0))
        taken->fd[taken->count++] = fd;
    if (fd >= 0)
        os_close_fd_number(fd);
}

void os_give_low(const struct os_low_fds *taken)
{
    for (int i = 0; i < taken->count; i++)
        os_close_fd_number(taken->fd[i]);
}
