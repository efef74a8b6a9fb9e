/* Prints lines for the user on stderr. It does not use stdio, so it also works in a damaged process. A closed
 * pipe or a limit on file sizes causes no signal. Waiting for readers takes at most one second in total. */
#ifndef BLAME_BASE_LOG_H
#define BLAME_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes "blame: " and the NULL-terminated list of strings as one line, by one write(2). A line longer than
 * 1,024 bytes is cut. [any] */
void log_line(const char *first, ...) __attribute__((sentinel));

/* Writes a line that all ranks of a job would write. Only the first rank writes it. [init] */
void log_line_of_job(const char *first, ...) __attribute__((sentinel));

/* Returns true if BLAME_SUMMARY=0: the user wants only errors, no explanations. [init] */
bool log_is_quiet(void);

/* Remembers which file stderr is. If the program closes stderr, its own next file may get the same number and
 * must not receive our lines. Only the first call has an effect. [init] */
void log_begin(void);

/* Returns false if stderr is no longer the file that it was at log_begin(). Nothing is then written. [any] */
bool log_is_open(void);

/* Writes bytes to stderr. Discards what readers have not taken within one second, counted over all calls.
 * [any] */
void log_write(const char *bytes, size_t count);

#define LOG_WORD_BYTES 4608 /* for log_word(): a path and its quotes */

/* Returns text as one word of a shell command: the text itself, or a copy in single quotes, in `buffer`.
 * Returns the text itself if the copy does not fit. [any] */
const char *log_word(const char *text, char buffer[LOG_WORD_BYTES]);

/* Writes the decimal digits of `value` into `buffer`, which has at least 21 bytes. Returns `buffer`.
 * [handler] */
const char *log_decimal(uint64_t value, char *buffer);

#endif
