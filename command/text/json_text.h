/* JSON for tables too large to be held as a tree of values: text through jansson, numbers as the CSV has
 * them. */
#ifndef BLAME_COMMAND_TEXT_JSON_TEXT_H
#define BLAME_COMMAND_TEXT_JSON_TEXT_H

#include <stdio.h>

/* text as a JSON string with its quotes. What is not UTF-8 is replaced; `<` is escaped, so that it may stand
 * in an HTML script element. */
void json_text(FILE *out, const char *text);

struct json_t; /* jansson's */

/* A whole value in one line, with the same escapes, reals with 12 digits. */
void json_value(FILE *out, const struct json_t *value);

/* A number with at most `decimals` digits behind the point, without needless zeros: 0, 1.5. */
void json_decimal(FILE *out, double value, int decimals);

#endif
