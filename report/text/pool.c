#include "report/text/pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/text/memory.h"

#define LEAST_BLOCK 4096u
#define MOST_BLOCK  (1u << 20)

struct pool_block {
    struct pool_block *before;
    size_t used, bytes;
    max_align_t memory[];
};

void *pool_alloc(struct pool *pool, size_t bytes)
{
    struct pool_block *block = pool->blocks;
    size_t rounded = (bytes + sizeof *block->memory - 1) & ~(sizeof *block->memory - 1);
    if (!block || rounded > block->bytes - block->used) {
        size_t room = !block ? LEAST_BLOCK : block->bytes < MOST_BLOCK ? 2 * block->bytes : MOST_BLOCK;
        room = rounded > room ? rounded : room;
        block = memory_array(1, sizeof *block + room);
        block->before = pool->blocks;
        block->bytes = room;
        pool->blocks = block;
    }
    void *memory = (char *)block->memory + block->used;
    block->used += rounded;
    return memory;
}

const char *pool_text(struct pool *pool, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = pool_alloc(pool, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void pool_free(struct pool *pool)
{
    while (pool->blocks) {
        struct pool_block *block = pool->blocks;
        pool->blocks = block->before;
        free(block);
    }
}
