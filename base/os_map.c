#include "base/os_map.h"

#include <unistd.h>

#include <sys/mman.h>

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

void *os_map_shared(int fd, uint64_t offset, size_t bytes)
{
    return map_part(fd, offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
}
