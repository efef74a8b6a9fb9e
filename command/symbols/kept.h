/* Encodes and decodes the file of names, which is described in docs/format.md. */
#ifndef BLAME_COMMAND_SYMBOLS_KEPT_H
#define BLAME_COMMAND_SYMBOLS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/answers.h"

struct profile_header;

/* Returns the contents of the file of names; NULL if memory runs out. The caller frees them. */
uint8_t *symbols_file_encode(const struct symbols_answers *answers, const struct profile_header *header, size_t *bytes);

/* A file of names that is to be decoded. */
struct symbols_file {
    const uint8_t *bytes;                  /* must live as long as the answers */
    size_t count;                          /* number of bytes */
    const struct profile_header *header;   /* header of the measurement to which the file must belong */
    const struct symbols_numbers *numbers; /* NULL: the module numbers are the same */
    /* Returns whether the file's answers about a module are to be used. */
    bool (*wanted)(void *context, uint32_t module_id, bool same_tool);
    void *context; /* argument of `wanted` */
};

/* Decodes a file of names: first fills answers->sources, then adds the answers for the modules that the file's
 * function `wanted` accepts. Returns NULL, or a text that says why the file cannot be used. */
const char *symbols_file_decode(struct symbols_answers *answers, struct pool *pool, const struct symbols_file *file);

#endif
