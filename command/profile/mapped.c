#include "command/profile/mapped.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sigaction bus_error_before;

static void mapped_file_shrank(int signal)
{
    static const char text[] =
        "blame: a measurement file cannot be read: it became shorter, or its disk has an error\n";
    (void)signal;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(1);
}

unsigned char *mapped_chunks(int file, size_t bytes)
{
    unsigned char *from = mmap(NULL, PROFILE_HEADER_BYTES + bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (from == MAP_FAILED)
        return NULL;
    sigaction(SIGBUS, &(struct sigaction){.sa_handler = mapped_file_shrank}, &bus_error_before);
    return from + PROFILE_HEADER_BYTES;
}

void mapped_end(unsigned char *chunks, uint32_t count)
{
    munmap(chunks - PROFILE_HEADER_BYTES, PROFILE_HEADER_BYTES + (size_t)count * PROFILE_CHUNK_BYTES);
    sigaction(SIGBUS, &bus_error_before, NULL);
}

void mapped_drop(const struct profile_chunks *chunks, uint32_t done)
{
    uint32_t count = done < MAPPED_CHUNKS ? done : MAPPED_CHUNKS;
    madvise((void *)profile_chunk_at(chunks, done - count), (size_t)count * PROFILE_CHUNK_BYTES, MADV_DONTNEED);
}
