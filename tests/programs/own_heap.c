/* A program with a heap of its own that cannot be asked for the size of a block; libc would read it from the word before the
 * block, where something else stands. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_BYTES (64u << 20)
#define NO_SIZE    0x7ffffffff000u

void *memalign(size_t alignment, size_t bytes);

static char heap[HEAP_BYTES];
static atomic_size_t taken;

void *memalign(size_t alignment, size_t bytes)
{
    size_t begin = atomic_fetch_add(&taken, bytes + alignment + 32) + 16;
    if (begin + bytes + alignment > HEAP_BYTES)
        abort();
    uintptr_t block = ((uintptr_t)heap + begin + alignment - 1) / alignment * alignment;
    *(uint64_t *)(block - 8) = NO_SIZE;
    return (void *)block;
}

void *malloc(size_t bytes)
{
    return memalign(16, bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return memalign(16, count * bytes); /* never given out before */
}

void *realloc(void *old, size_t bytes)
{
    char *block = memalign(16, bytes);
    for (size_t i = 0; old && i < bytes && (char *)old + i < heap + HEAP_BYTES; i++)
        block[i] = ((char *)old)[i];
    return block;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    *block = memalign(alignment, bytes);
    return 0;
}

void free(void *block)
{
    (void)block;
}

int main(void)
{
    static volatile double sum[2][64];
#pragma omp parallel for num_threads(2)
    for (int thread = 0; thread < 2; thread++)
        for (int i = 0; i < 15000000; i++)
            sum[thread][0] = sum[thread][0] * 1.0000001 + 1;
    puts("done");
    return 0;
}
