/* The file of answers, docs/format.md. */
#ifndef BLAME_COMMAND_SYMBOLS_KEPT_H
#define BLAME_COMMAND_SYMBOLS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/symbols/answers.h"

struct profile_header;

/* The file of answers, docs/format.md: bytes in memory, malloc'ed; NULL: no memory. */
uint8_t *symbols_file_encode(const struct symbols_answers *answers, const struct profile_header *header, size_t *bytes);
/* Adds what a file says of modules that `wanted` says yes to, once answers->sources is filled. bytes must
 * stay as they are for as long as the answers. numbers: NULL if modules have the same ones. NULL, or why the file cannot be used. */
const char *symbols_file_decode(struct symbols_answers *answers, struct pool *pool, const struct profile_header *header,
                                const struct symbols_numbers *numbers, const uint8_t *bytes, size_t count,
                                bool (*wanted)(void *context, uint32_t module_id, bool same_tool), void *context);

#endif
