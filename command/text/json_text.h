/* JSON for tables that are too large for a tree of values. jansson writes the text; numbers look as in the
 * CSV files. */
#ifndef BLAME_COMMAND_TEXT_JSON_TEXT_H
#define BLAME_COMMAND_TEXT_JSON_TEXT_H

#include <stdio.h>

/* Writes text as a JSON string in quotes. Invalid UTF-8 is replaced, and `<` is escaped so that the string
 * may appear in an HTML script element. */
void json_text(FILE *out, const char *text);

struct json_t; /* jansson's */

/* Writes a value on one line with the same escapes; reals have 12 digits. */
void json_value(FILE *out, const struct json_t *value);

/* Writes a number with at most `decimals` decimals and without trailing zeros: 0, 1.5. */
void json_decimal(FILE *out, double value, int decimals);

#endif
