/* Memory for the commands that read profiles. When memory runs out, these functions print one line and exit,
 * so none of them returns NULL. */
#ifndef BLAME_COMMAND_TEXT_MEMORY_H
#define BLAME_COMMAND_TEXT_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* function that prints the line about exhausted memory; NULL: "blame: not enough memory" is printed */
extern void (*memory_exhausted)(void);

/* Returns `memory`. If it is NULL, prints the line about exhausted memory and exits. */
void *memory_check(void *memory);

/* Returns `count` zeroed items of `bytes` bytes each. The caller frees them. */
void *memory_array(size_t count, size_t bytes);

/* Reallocates the array if it has no room for one more item than `count`. `list` is the address of the
 * pointer to the array. */
void memory_grow(void *list, size_t *room, size_t count, size_t item_bytes);

/* Formats like printf into allocated memory. The caller frees the text. */
char *memory_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens a stream that writes into memory. *text is complete after memory_stream_close(), and the caller frees
 * it. */
FILE *memory_stream(char **text);
void memory_stream_close(FILE *stream);

struct pool {
    struct pool_block *blocks; /* newest first */
};

/* Returns zeroed memory that lives until pool_free(). */
void *pool_alloc(struct pool *pool, size_t bytes);
/* Formats like printf into memory of the pool. The text lives until pool_free(). */
const char *pool_text(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pool_free(struct pool *pool);

#endif
