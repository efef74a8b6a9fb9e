#include "base/entries.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "base/kernel.h"

/* What getdents64() returns (getdents(2)). */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

bool entries_visit_open(int directory, bool (*visit)(const char *name, void *argument), void *argument)
{
    _Alignas(struct entry) char buffer[2048];
    long got = 0;
    bool wanted = true;
    while (wanted && (got = kernel_call(SYS_getdents64, directory, (long)buffer, sizeof(buffer), 0, 0, 0)) > 0)
        for (long at = 0; wanted && at < got; at += ((struct entry *)(void *)(buffer + at))->bytes)
            wanted = visit(((struct entry *)(void *)(buffer + at))->name, argument);
    return got >= 0;
}

bool entries_visit(const char *path, bool (*visit)(const char *name, void *argument), void *argument)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool read = entries_visit_open(fd, visit, argument);
    close(fd);
    return read;
}
