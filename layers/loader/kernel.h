/* System calls for libblame-loader.so, which has no C library. */
#ifndef BLAME_LAYERS_LOADER_KERNEL_H
#define BLAME_LAYERS_LOADER_KERNEL_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/kernel.h"

/* Returns the time on CLOCK_MONOTONIC in ns. [any] */
static inline uint64_t kernel_now_ns(void)
{
    struct timespec now = {0};
    kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* [any] */
static inline int kernel_open(const char *path)
{
    return (int)kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
}

/* [any] */
static inline void kernel_close(int fd)
{
    kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* [any] */
static inline long kernel_read(int fd, void *buffer, size_t bytes)
{
    return kernel_call(SYS_read, fd, (long)buffer, (long)bytes, 0, 0, 0);
}

/* Reads the status of an open file. Returns false if the descriptor is closed. [any] */
static inline bool kernel_file_status(int fd, struct stat *status)
{
    return kernel_call(SYS_fstat, fd, (long)status, 0, 0, 0, 0) == 0;
}

/* Returns true if the file accepts data within wait_ms. Also returns true if the kernel cannot tell, because
 * RLIMIT_NOFILE is 0. [any] */
static inline bool kernel_has_room(int fd, int wait_ms)
{
    const uint64_t all = ~0ull;
    struct pollfd end = {fd, POLLOUT, 0};
    struct timespec wait = {wait_ms / 1000, wait_ms % 1000 * 1000000l};
    long ready = kernel_call(SYS_ppoll, (long)&end, 1, (long)&wait, (long)&all, sizeof(all), 0);
    return ready > 0 || ready == -EINVAL;
}

/* Writes to a file. If the write fails because of a closed pipe or RLIMIT_FSIZE, the program gets no signal.
 * [any] */
static inline void kernel_write(int fd, const void *buffer, size_t bytes)
{
    const uint64_t ours = 1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1);
    uint64_t mask, before = 0, after = 0;
    const struct timespec at_once = {0, 0};
    kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&ours, (long)&mask, sizeof(mask), 0, 0);
    kernel_call(SYS_rt_sigpending, (long)&before, sizeof(before), 0, 0, 0, 0);
    kernel_call(SYS_write, fd, (long)buffer, (long)bytes, 0, 0, 0);
    kernel_call(SYS_rt_sigpending, (long)&after, sizeof(after), 0, 0, 0, 0);
    after &= ours & ~before;
    if (after)
        kernel_call(SYS_rt_sigtimedwait, (long)&after, 0, (long)&at_once, sizeof(after), 0, 0);
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

/* Returns RLIMIT_FSIZE, the maximum size in bytes of a file that this process may write. [any] */
static inline uint64_t kernel_file_limit(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    kernel_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0);
    return limit.rlim_cur;
}

/* Returns RLIMIT_AS, the maximum number of bytes that this process may map; UINT64_MAX: no limit. [any] */
static inline uint64_t kernel_memory_limit(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    kernel_call(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0);
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/* Returns the file's size in bytes; 0: unknown. [any] */
static inline long kernel_file_bytes(int fd)
{
    long end = kernel_call(SYS_lseek, fd, 0, 2 /* SEEK_END */, 0, 0, 0);
    return end > 0 ? end : 0;
}

/* Returns the number of free bytes in the path's file system; UINT64_MAX if it has no limit or does not
 * exist. [any] */
static inline uint64_t kernel_room(const char *path)
{
    struct statfs found = {0};
    long failed = kernel_call(SYS_statfs, (long)path, (long)&found, 0, 0, 0, 0);
    return failed || !found.f_blocks ? UINT64_MAX : (uint64_t)found.f_bavail * (uint64_t)found.f_bsize;
}

/* Maps the whole file for reading and stores its size in *bytes. Returns NULL on failure. [any] */
static inline const void *kernel_map_file(int fd, size_t *bytes)
{
    long end = kernel_file_bytes(fd);
    if (!end)
        return NULL;
    *bytes = (size_t)end;
    long at = kernel_call(SYS_mmap, 0, end, PROT_READ, MAP_PRIVATE, fd, 0);
    return at < 0 && at > -4096 ? NULL : (const void *)at;
}

/* Returns true if eight bytes can be read at the address. The system call is invalid, but the kernel reads
 * its argument, a signal mask, from the address before it rejects the call. [any] */
static inline bool kernel_is_readable(uintptr_t at)
{
    return kernel_call(SYS_rt_sigprocmask, -1, (long)at, 0, sizeof(uint64_t), 0, 0) != -EFAULT;
}

/* [any] */
static inline void kernel_unmap(const void *at, size_t bytes)
{
    kernel_call(SYS_munmap, (long)at, (long)bytes, 0, 0, 0, 0);
}

#endif
