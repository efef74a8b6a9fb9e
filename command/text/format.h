/* Numbers and names as text. Numbers always have a decimal point, whatever the program's locale; names may
 * come from anywhere, so what is not UTF-8 is replaced. */
#ifndef BLAME_COMMAND_TEXT_FORMAT_H
#define BLAME_COMMAND_TEXT_FORMAT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_NUMBER_BYTES 352 /* room for any double */

/* value with `decimals` (0 ... 9) digits behind the point; never "-0.00", 0 for what is not finite. Returns
 * to. */
const char *format_decimal(char to[FORMAT_NUMBER_BYTES], double value, int decimals);

/* The same in an expression: the text is there as long as the block around it. */
#define DECIMAL(value, decimals) format_decimal((char[FORMAT_NUMBER_BYTES]){0}, value, decimals)

/* The same with 6 decimals, and an integer; without a zero byte behind. Return the end. */
char *format_micro(char to[FORMAT_NUMBER_BYTES], double value);
char *format_integer(char to[FORMAT_NUMBER_BYTES], uint64_t value);

/* Whether text is a CSV field as it stands. */
bool format_csv_plain(const char *text);
/* One CSV field, quoted if RFC 4180 asks for it. */
void format_csv_text(FILE *out, const char *text);
/* A number with 6 decimals. */
void format_csv_number(FILE *out, double value);

/* Copies text as valid UTF-8, what is not replaced by U+FFFD; control characters too if `printable`. The
 * result is malloc'ed. */
char *format_clean(const char *text, bool printable);

/* The same with what is neither printable nor valid, `\\`, and each byte that `also` has as \xHH: bytes can be had back. */
char *format_escaped(const char *text, const char *also);

/* printf into malloc'ed, printable text. */
char *format_printable(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *format_vprintable(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* Columns of valid UTF-8 on a terminal, a code point for a column. */
size_t format_columns(const char *text);
/* Copies valid UTF-8 so that it takes at most `columns`; what is too long loses its middle. */
void format_shorten(char *to, size_t to_bytes, const char *text, size_t columns, bool utf8);

/* Text as it may go to a terminal, in at most `columns`: what is not printable is replaced, in other than
 * UTF-8 terminals all that is not ASCII; what is too long loses its middle, or its end. malloc'ed. */
char *format_fit(const char *text, size_t columns, bool utf8);
char *format_fit_head(const char *text, size_t columns, bool utf8);

/* What goes to a terminal in front of a number that is so many per cent of the whole, or of a heading, and
 * behind it; "" without colour. */
const char *format_heat(double percent, bool colour);
const char *format_strong(bool colour);
const char *format_plain(bool colour);

/* Whether the user's locale, by its environment variables, is a UTF-8 one. (A program under measurement need
 * not have called setlocale.) */
bool format_locale_is_utf8(void);
/* Columns of the terminal behind `out`; else COLUMNS; else 100. Between 40 and 400. */
size_t format_terminal_columns(FILE *out);

/* Prints text broken into lines of at most `columns`, each behind `indent` spaces, and ends the last. */
void format_paragraph(FILE *out, const char *text, size_t columns);
void format_indented(FILE *out, const char *text, size_t indent, size_t columns);
/* The same where as many columns of the first line are taken. */
void format_continued(FILE *out, const char *text, size_t indent, size_t columns);

/* File name without its folders. */
const char *format_base_name(const char *path);

#endif
