/* Encodes and decodes the file of names, which stores names beside the measurement file. command/symbols/README.md
 * describes it. */
#ifndef BLAME_COMMAND_SYMBOLS_KEPT_H
#define BLAME_COMMAND_SYMBOLS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/answers.h"

struct profile_header;

/* Returns the contents of the file of names, which the caller frees, or NULL if memory runs out. */
uint8_t *symbols_file_encode(const struct symbols_answers *answers, const struct profile_header *header, size_t *bytes);

/* A file of names, ready to be decoded. */
struct symbols_file {
    const uint8_t *bytes; /* contents of the file; must live as long as the answers */
    size_t count;         /* number of bytes in the file */
    /* header of the measurement; the file of names must belong to it */
    const struct profile_header *header;
    /* translation of the file's module numbers; NULL: the reader has the same numbers */
    const struct symbols_numbers *numbers;
    /* Returns whether to use the answers that the file has about a module. */
    bool (*wanted)(void *context, uint32_t module_id, bool same_tool);
    void *context; /* passed to `wanted` */
};

/* Decodes a file of names. First fills answers->sources, then adds the answers about each module for which
 * `wanted` returns true. Returns NULL on success, or a text that says why the file cannot be used. */
const char *symbols_file_decode(struct symbols_answers *answers, struct pool *pool, const struct symbols_file *file);

#endif
