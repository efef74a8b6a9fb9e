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
/* Decodes a file of names: first fills answers->sources, then adds the answers for modules that `wanted`
 * accepts. `bytes` must live as long as the answers. `numbers` is NULL if the module numbers are the same.
 * Returns NULL, or a text that says why the file cannot be used. */
const char *symbols_file_decode(struct symbols_answers *answers, struct pool *pool, const struct profile_header *header,
                                const struct symbols_numbers *numbers, const uint8_t *bytes, size_t count,
                                bool (*wanted)(void *context, uint32_t module_id, bool same_tool), void *context);

#endif
