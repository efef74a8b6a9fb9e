#include "command/text/memory.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*memory_exhausted)(void);

void *memory_check(void *memory)
{
    if (memory)
        return memory;
    if (memory_exhausted)
        memory_exhausted();
    else
        fputs("blame: not enough memory\n", stderr);
    exit(EXIT_FAILURE);
}

void *memory_array(size_t count, size_t bytes)
{
    return memory_check(calloc(count ? count : 1, bytes));
}

void memory_grow(void *list, size_t *room, size_t count, size_t item_bytes)
{
    void *items;
    if (count < *room)
        return;
    memcpy(&items, list, sizeof items);
    *room = *room ? *room * 2 : 64;
    items = memory_check(reallocarray(items, *room, item_bytes));
    memcpy(list, &items, sizeof items);
}

char *memory_text(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    return memory_check(bytes < 0 ? NULL : text);
}

FILE *memory_stream(char **text)
{
    static size_t bytes; /* open_memstream needs a place for the size, which nothing here uses */
    return memory_check(open_memstream(text, &bytes));
}

void memory_stream_close(FILE *stream)
{
    if (fclose(stream) != 0)
        memory_check(NULL);
}

/* ---- pools: memory that is freed all at once ---- */

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
