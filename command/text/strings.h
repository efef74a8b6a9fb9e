/* Interned strings: equal text has one id and one address, so that names are compared and hashed as numbers.
 */
#ifndef BLAME_COMMAND_TEXT_STRINGS_H
#define BLAME_COMMAND_TEXT_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct strings;

struct strings *strings_new(void);
void strings_free(struct strings *strings);

/* The id of text (NULL counts as ""); "" has id 0. */
uint32_t strings_intern(struct strings *strings, const char *text);
/* Lives as long as strings. */
const char *strings_text(const struct strings *strings, uint32_t id);

#endif
