/* Formats numbers and names. Numbers always have a decimal point, whatever the locale. Names may contain any
 * bytes, so bytes that are not UTF-8 are replaced. */
#ifndef BLAME_COMMAND_TEXT_FORMAT_H
#define BLAME_COMMAND_TEXT_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_NUMBER_BYTES 352 /* enough bytes for any double */

/* Formats a value with 0 to 9 decimals. Never writes "-0.00"; writes 0 for infinities and NaN. Returns `to`. */
const char *format_decimal(char to[FORMAT_NUMBER_BYTES], double value, int decimals);

/* format_decimal() as an expression. The text is valid in the enclosing block. */
#define DECIMAL(value, decimals) format_decimal((char[FORMAT_NUMBER_BYTES]){0}, value, decimals)

/* Write a value with 6 decimals, or an integer, without a terminating zero byte. Return the end of the text. */
char *format_micro(char to[FORMAT_NUMBER_BYTES], double value);
char *format_integer(char to[FORMAT_NUMBER_BYTES], uint64_t value);

/* Returns whether a text needs no quotes as a CSV field. */
bool format_csv_plain(const char *text);
/* Writes one CSV field, quoted if RFC 4180 requires it. */
void format_csv_text(FILE *out, const char *text);
/* Writes a number with 6 decimals as a CSV field. */
void format_csv_number(FILE *out, double value);

/* Returns a copy that is valid UTF-8. Other bytes become U+FFFD, and so do control characters if `printable`
 * is set. The caller frees it. */
char *format_clean(const char *text, bool printable);

/* Returns a copy with reversible escapes: \xHH replaces `\`, bytes in `also`, and everything that is not
 * printable UTF-8. The caller frees it. */
char *format_escaped(const char *text, const char *also);

/* Returns printable text, formatted as by printf. The caller frees it. */
char *format_printable(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *format_vprintable(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* Returns the number of terminal columns of valid UTF-8 text, counting one for each code point. */
size_t format_columns(const char *text);
/* Copies valid UTF-8 text. If it is wider than `columns`, replaces its middle by an ellipsis. */
void format_shorten(char *to, size_t to_bytes, const char *text, size_t columns, bool utf8);

/* Return text for a terminal, at most `columns` wide. Unprintable characters are replaced; if `utf8` is
 * false, so are all non-ASCII characters. Text that is too wide loses its middle (format_fit) or its end
 * (format_fit_head). The caller frees it. */
char *format_fit(const char *text, size_t columns, bool utf8);
char *format_fit_head(const char *text, size_t columns, bool utf8);

/* Return terminal escape sequences, or "" if `colour` is false: the colour for a percentage, the start of a
 * heading, and the end of both. */
const char *format_heat(double percent, bool colour);
const char *format_strong(bool colour);
const char *format_plain(bool colour);

/* Returns whether the user's locale uses UTF-8. Reads environment variables, because a measured program may
 * not have called setlocale. */
bool format_locale_is_utf8(void);
/* Returns the number of columns of the terminal to which `out` writes. Without a terminal, returns COLUMNS,
 * or 100 if that is not set. The result is between 40 and 400. */
size_t format_terminal_columns(FILE *out);

/* Print text as lines of at most `columns` columns, each indented by `indent` columns, and end the last line. */
void format_paragraph(FILE *out, const char *text, size_t columns);
void format_indented(FILE *out, const char *text, size_t indent, size_t columns);
/* Does the same if the first line already contains `indent` columns. */
void format_continued(FILE *out, const char *text, size_t indent, size_t columns);

/* Returns the file name without its directories. */
const char *format_base_name(const char *path);

#endif
