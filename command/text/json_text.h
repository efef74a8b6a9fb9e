/* Writes JSON directly to a stream, for tables that are too large to be built as jansson values first.
 * jansson escapes the strings; numbers are written as in the CSV files. */
#ifndef BLAME_COMMAND_TEXT_JSON_TEXT_H
#define BLAME_COMMAND_TEXT_JSON_TEXT_H

#include <stdio.h>

/* Writes a text as a quoted JSON string. Replaces invalid UTF-8, and escapes `<`, so that the string may
 * stand in an HTML script element. */
void json_text(FILE *out, const char *text);

struct json_t; /* jansson's */

/* Writes a JSON value on one line, with strings escaped as by json_text(). Real numbers have 12 significant
 * digits. */
void json_value(FILE *out, const struct json_t *value);

/* Writes a number with at most `decimals` decimals and no trailing zeros, such as 0 or 1.5. */
void json_decimal(FILE *out, double value, int decimals);

#endif
