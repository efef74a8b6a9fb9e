/* Memory for the commands that read profiles. If memory runs out, they print one line and exit, as libdw
 * does. Nothing here returns NULL. */
#ifndef BLAME_COMMAND_TEXT_MEMORY_H
#define BLAME_COMMAND_TEXT_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* Prints that line; NULL: prints a default one. */
extern void (*memory_exhausted)(void);

/* Returns its argument unless it is NULL. */
void *memory_check(void *memory);

/* Returns `count` zeroed items of `bytes` bytes each. */
void *memory_array(size_t count, size_t bytes);

/* Makes room for one more item than `count`. list: address of the array's pointer. */
void memory_grow(void *list, size_t *room, size_t count, size_t item_bytes);

/* Returns text made by printf. The caller frees it. */
char *memory_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens a stream into *text. The text is complete after memory_stream_close(), and the caller frees it. */
FILE *memory_stream(char **text);
void memory_stream_close(FILE *stream);

struct pool {
    struct pool_block *blocks; /* newest first */
};

/* Zeroed. */
void *pool_alloc(struct pool *pool, size_t bytes);
/* Returns text made by printf in the pool. */
const char *pool_text(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pool_free(struct pool *pool);

#endif
