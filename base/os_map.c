#include "base/os_map.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14 */
#endif

/* On x86-64 a constant; elsewhere the kernel's choice. */
#if defined(__x86_64__)
#define PAGE_BYTES 4096ul
#else
#define PAGE_BYTES ((unsigned long)sysconf(_SC_PAGESIZE))
#endif

void *os_map(size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void os_make_present(void *memory, size_t bytes)
{
    size_t skip = (uintptr_t)memory % PAGE_BYTES;
    syscall(SYS_madvise, (char *)memory - skip, bytes + skip, MADV_POPULATE_WRITE);
}

void os_unmap(void *memory, size_t bytes)
{
    size_t skip = (uintptr_t)memory % PAGE_BYTES;
    munmap((char *)memory - skip, bytes + skip);
}

/* Files are laid out in pages of 4 KB: where those of memory are larger, some bytes before are mapped, too. */
static void *map_part(int fd, uint64_t offset, size_t bytes, int access, int flags)
{
    size_t skip = offset % PAGE_BYTES;
    char *memory = mmap(NULL, bytes + skip, access, flags, fd, (off_t)(offset - skip));
    return memory == MAP_FAILED ? NULL : memory + skip;
}

const void *os_map_file(int fd, uint64_t offset, size_t bytes)
{
    return map_part(fd, offset, bytes, PROT_READ, MAP_PRIVATE);
}

/* Without MADV_RANDOM the kernel also reads the pages around one that is touched, which in a new file are empty. */
void *os_map_shared(int fd, uint64_t offset, size_t bytes)
{
    char *memory = map_part(fd, offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    size_t skip = (uintptr_t)memory % PAGE_BYTES;
    if (memory)
        syscall(SYS_madvise, memory - skip, bytes + skip, MADV_RANDOM);
    return memory;
}

size_t os_file_bytes(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size : 0;
}

bool os_memory_is_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}
