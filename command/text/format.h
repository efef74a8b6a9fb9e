/* Formats numbers and names. Numbers have a decimal point in every locale. Names may contain any bytes; bytes
 * that are not UTF-8 are replaced. */
#ifndef BLAME_COMMAND_TEXT_FORMAT_H
#define BLAME_COMMAND_TEXT_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_NUMBER_BYTES 352 /* size of a buffer that is large enough for any double */

/* Formats a value with 0 to 9 decimals. Writes 0 instead of "-0.00", infinities and NaN. Returns `to`. */
const char *format_decimal(char to[FORMAT_NUMBER_BYTES], double value, int decimals);

/* Formats a value as format_decimal() does, in an expression. The text is valid until the end of the
 * enclosing block. */
#define DECIMAL(value, decimals) format_decimal((char[FORMAT_NUMBER_BYTES]){0}, value, decimals)

/* Write a value with 6 decimals (format_micro) or an integer (format_integer), without a terminating zero
 * byte. Return the address after the last character. */
char *format_micro(char to[FORMAT_NUMBER_BYTES], double value);
char *format_integer(char to[FORMAT_NUMBER_BYTES], uint64_t value);

/* Returns whether a CSV field with this text needs no quotes. */
bool format_csv_plain(const char *text);
/* Writes one CSV field, quoted if RFC 4180 requires it. */
void format_csv_text(FILE *out, const char *text);
/* Writes a number with 6 decimals as a CSV field. */
void format_csv_number(FILE *out, double value);

/* Returns a copy of the text that is valid UTF-8. Every invalid byte becomes U+FFFD; if `printable` is set,
 * so does every control character. The caller frees the copy. */
char *format_clean(const char *text, bool printable);

/* Returns a copy in which \xHH replaces each backslash, each byte in `also`, and each byte that is not part
 * of printable UTF-8. The original text can be restored from the copy, which the caller frees. */
char *format_escaped(const char *text, const char *also);

/* Formats like printf, and replaces characters that a terminal cannot print. The caller frees the text. */
char *format_printable(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *format_vprintable(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* Returns how many columns of a terminal a valid UTF-8 text takes. Each code point counts as one column. */
size_t format_columns(const char *text);
/* Copies a valid UTF-8 text. If the text is wider than `columns`, an ellipsis replaces its middle. */
void format_shorten(char *to, size_t to_bytes, const char *text, size_t columns, bool utf8);
/* Writes a C++ name without parameters, template arguments and nameless namespaces: "std::thread::join". Names of operators
 * stay as they are. */
void format_bare_name(char *to, size_t bytes, const char *name);

/* Return a copy of the text for a terminal, at most `columns` wide. Unprintable characters are replaced, and
 * if `utf8` is false, non-ASCII characters too. From a text that is too wide, format_fit removes the middle
 * and format_fit_head removes the end. The caller frees the copy. */
char *format_fit(const char *text, size_t columns, bool utf8);
char *format_fit_head(const char *text, size_t columns, bool utf8);

/* Return escape sequences for a terminal, or "" if `colour` is false. format_heat selects the colour of a
 * percentage, format_strong starts a heading, and format_plain ends both. */
const char *format_heat(double percent, bool colour);
const char *format_strong(bool colour);
const char *format_plain(bool colour);

/* Returns whether the user's locale uses UTF-8. Reads the environment variables instead of asking the C
 * library, because a measured program may not have called setlocale. */
bool format_locale_is_utf8(void);
/* Returns the width in columns of the terminal that `out` writes to. If `out` is not a terminal, returns the
 * environment variable COLUMNS, or 100 if it is not set. The result is at least 40 and at most 400. */
size_t format_terminal_columns(FILE *out);

/* Print a text as lines of at most `columns` columns, and end the last line. format_indented also indents
 * each line by `indent` columns. */
void format_paragraph(FILE *out, const char *text, size_t columns);
void format_indented(FILE *out, const char *text, size_t indent, size_t columns);
/* Prints like format_indented, for a first line on which the caller has already printed `indent` columns. */
void format_continued(FILE *out, const char *text, size_t indent, size_t columns);

/* Returns the file name without its directories. */
const char *format_base_name(const char *path);

#endif
