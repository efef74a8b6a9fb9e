/* Interned strings: equal texts get the same id and address, so names can be compared and hashed as numbers. */
#ifndef BLAME_COMMAND_TEXT_STRINGS_H
#define BLAME_COMMAND_TEXT_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct strings;

struct strings *strings_new(void);
void strings_free(struct strings *strings);

/* Returns the id of a text, and stores a copy of the text if it is new. "" and NULL have id 0. */
uint32_t strings_intern(struct strings *strings, const char *text);
/* Returns the text of an id, valid until strings_free(). */
const char *strings_text(const struct strings *strings, uint32_t id);

#endif
