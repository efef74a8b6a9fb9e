/* What the kernel does for the units that are tried: memory is the run's, a file is memory. Not instrumented. */
#include <stdarg.h>
#include <time.h>

#include "base/os.h"
#include "tests/memory/model.h"

#define MODEL_FD 100

int model_nanosleep(const struct timespec *pause, struct timespec *left)
{
    (void)pause;
    (void)left;
    model_pause();
    return 0;
}

int model_sched_yield(void)
{
    model_pause();
    return 0;
}

long model_syscall(long number, ...)
{
    (void)number;
    model_pause();
    return 0;
}

int model_open(const char *path, int flags, ...)
{
    (void)path;
    (void)flags;
    return MODEL_FD;
}

void *os_map(size_t bytes)
{
    return model_has_memory ? model_map(bytes) : NULL;
}

bool os_memory_is_limited(void)
{
    return false;
}

void os_unmap(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

static char *file; /* of the run */
static uint64_t file_run;

void *os_map_shared(int fd, uint64_t offset, size_t bytes)
{
    (void)fd;
    (void)bytes;
    if (offset == 0 || file_run != model_run)
        file = model_map(8u << 20);
    file_run = model_run;
    return file + offset;
}

bool os_reserve(int fd, uint64_t offset, size_t bytes)
{
    (void)offset;
    (void)bytes;
    return fd == MODEL_FD;
}

bool os_reserve_shared(int fd, uint64_t offset, size_t bytes)
{
    return os_reserve(fd, offset, bytes);
}

bool os_file_id(int fd, uint64_t *device, uint64_t *inode)
{
    *device = *inode = 1;
    return fd == MODEL_FD;
}

int os_move_high(int fd)
{
    return fd;
}

int os_open_write(const char *path)
{
    (void)path;
    return MODEL_FD;
}

void os_close(int fd)
{
    (void)fd;
}

bool os_is_dead(pid_t pid)
{
    (void)pid;
    return false;
}
