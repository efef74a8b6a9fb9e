#include "base/os_file.h"

#include <sys/stat.h>
#include <time.h>

#include "base/hash.h"

static struct os_file os_file_of_status(const struct stat *st)
{
    struct os_file file = {st->st_size > 0 ? (size_t)st->st_size : 0, 0};
    struct timespec now;
    const int64_t known[] = {(int64_t)st->st_dev, (int64_t)st->st_ino, (int64_t)st->st_size, st->st_mtim.tv_sec,
                             st->st_mtim.tv_nsec, st->st_ctim.tv_sec,  st->st_ctim.tv_nsec};
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) == 0 && st->st_ctim.tv_sec < now.tv_sec - 1)
        file.state = hash_bytes(known, sizeof(known));
    return file;
}

struct os_file os_file_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? os_file_of_status(&st) : (struct os_file){0, 0};
}

struct os_file os_file_of_path(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? os_file_of_status(&st) : (struct os_file){0, 0};
}
