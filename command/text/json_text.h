/* Writes JSON for tables that are too large to be built as jansson values. Strings are escaped by jansson;
 * numbers look as in the CSV files. */
#ifndef BLAME_COMMAND_TEXT_JSON_TEXT_H
#define BLAME_COMMAND_TEXT_JSON_TEXT_H

#include <stdio.h>

/* Writes text as a quoted JSON string. Invalid UTF-8 is replaced. `<` is escaped, so that the string may
 * appear in an HTML script element. */
void json_text(FILE *out, const char *text);

struct json_t; /* jansson's */

/* Writes a value on one line, with the same escapes. Real numbers have 12 digits. */
void json_value(FILE *out, const struct json_t *value);

/* Writes a number with at most `decimals` decimals and without trailing zeros, such as 0 or 1.5. */
void json_decimal(FILE *out, double value, int decimals);

#endif
