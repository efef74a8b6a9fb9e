/* Numbers and names as text. Numbers always have a decimal point, whatever the locale. Names may come from
 * anywhere, so bytes that are not UTF-8 are replaced. */
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

/* The same as an expression. The text lives as long as the enclosing block. */
#define DECIMAL(value, decimals) format_decimal((char[FORMAT_NUMBER_BYTES]){0}, value, decimals)

/* Write a value with 6 decimals, or an integer, without a terminating zero byte. Return the end of the text. */
char *format_micro(char to[FORMAT_NUMBER_BYTES], double value);
char *format_integer(char to[FORMAT_NUMBER_BYTES], uint64_t value);

/* Returns whether a text is a CSV field without quoting. */
bool format_csv_plain(const char *text);
/* Writes one CSV field, quoted if RFC 4180 requires it. */
void format_csv_text(FILE *out, const char *text);
/* Writes a number with 6 decimals. */
void format_csv_number(FILE *out, double value);

/* Returns a copy that is valid UTF-8; other bytes, and with `printable` control characters, become U+FFFD.
 * The caller frees it. */
char *format_clean(const char *text, bool printable);

/* Returns a copy with reversible escapes: \xHH replaces `\`, bytes in `also`, and whatever is not printable
 * UTF-8. The caller frees it. */
char *format_escaped(const char *text, const char *also);

/* Returns printable text made by printf. The caller frees it. */
char *format_printable(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *format_vprintable(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* Returns the terminal columns of valid UTF-8 text, counting one for each code point. */
size_t format_columns(const char *text);
/* Copies valid UTF-8 text; removes its middle if it is longer than `columns`. */
void format_shorten(char *to, size_t to_bytes, const char *text, size_t columns, bool utf8);

/* Return text for a terminal, at most `columns` wide. Unprintable characters are replaced, and all non-ASCII
 * ones if not `utf8`. Text that is too long loses its middle (format_fit) or its end (format_fit_head). The
 * caller frees it. */
char *format_fit(const char *text, size_t columns, bool utf8);
char *format_fit_head(const char *text, size_t columns, bool utf8);

/* Return terminal escapes: the colour for a percentage, the start of a heading, and the end of either; "" if
 * not `colour`. */
const char *format_heat(double percent, bool colour);
const char *format_strong(bool colour);
const char *format_plain(bool colour);

/* Returns whether the user's locale is a UTF-8 one. Reads the environment, because a measured program need
 * not have called setlocale. */
bool format_locale_is_utf8(void);
/* Returns the width of the terminal that `out` writes to; without a terminal COLUMNS, or else 100. Always
 * between 40 and 400. */
size_t format_terminal_columns(FILE *out);

/* Print text as lines of at most `columns`, each indented by `indent`, and end the last line. */
void format_paragraph(FILE *out, const char *text, size_t columns);
void format_indented(FILE *out, const char *text, size_t indent, size_t columns);
/* The same, if the first line has `indent` columns already. */
void format_continued(FILE *out, const char *text, size_t indent, size_t columns);

/* Returns the file name without its directories. */
const char *format_base_name(const char *path);

#endif
