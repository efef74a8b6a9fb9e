/* Memory of the readers, which have a process to themselves: where there is none left, a line says so and the process
 * ends, as it does when libdw gets none. Nothing here returns NULL. */
#ifndef BLAME_COMMAND_TEXT_MEMORY_H
#define BLAME_COMMAND_TEXT_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* Prints that line; NULL: a short one. */
extern void (*memory_exhausted)(void);

/* What it is given, unless that is NULL. */
void *memory_check(void *memory);

/* `count` items of that many bytes each, zeroed. */
void *memory_array(size_t count, size_t bytes);

/* Room for one more item than count; list points to the array's pointer. */
void memory_grow(void *list, size_t *room, size_t count, size_t item_bytes);

/* printf into malloc'ed text. */
char *memory_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A stream into *text, which is there, malloc'ed, after memory_stream_close(). */
FILE *memory_stream(char **text);
void memory_stream_close(FILE *stream);

struct pool {
    struct pool_block *blocks; /* the last first */
};

/* Zeroed. */
void *pool_alloc(struct pool *pool, size_t bytes);
/* printf into the pool. */
const char *pool_text(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pool_free(struct pool *pool);

#endif
