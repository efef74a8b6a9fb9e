/* Prints lines for the user on stderr. The functions do not use stdio, so they also work in a damaged
 * process. A closed pipe or a limit on file sizes causes no signal. A process spends at most one second in
 * total waiting for readers. */
#ifndef BLAME_BASE_LOG_H
#define BLAME_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes "blame: " and the NULL-terminated list of strings as one line, by one write(2). A line longer than
 * 1,024 bytes is truncated. [any] */
void log_line(const char *first, ...) __attribute__((sentinel));

/* Writes a line that is the same for all ranks of a job. Only the first rank writes it. [init] */
void log_line_of_job(const char *first, ...) __attribute__((sentinel));

/* Returns true if BLAME_SUMMARY=0, that is, the user wants only errors, no explanations. [init] */
bool log_is_quiet(void);

/* Notes which file stderr is. If the program closes stderr, its next file may get the same descriptor number,
 * and must not receive our lines. Calls after the first have no effect. [init] */
void log_begin(void);

/* Returns false if stderr is no longer the file that it was at log_begin(), so that nothing is written to it.
 * [any] */
bool log_is_open(void);

/* Returns true if stderr was open at log_begin() and has been closed or redirected since. [any] */
bool log_was_open(void);

#define LOG_FILE_BYTES 44 /* size of log_file()'s buffer */

/* Returns which file stderr was at log_begin(), as text in `buffer`; "" if it was closed. [init] */
const char *log_file(char buffer[LOG_FILE_BYTES]);

/* Writes bytes to stderr. Discards the rest when the process has waited for readers for one second in total.
 * [any] */
void log_write(const char *bytes, size_t count);

#define LOG_WORD_BYTES 4608 /* size of log_word()'s buffer: a path and its quotes */

/* Returns `text` as one word of a shell command: either `text` itself, or a quoted copy in `buffer`. If the
 * copy does not fit, returns `text`. [any] */
const char *log_word(const char *text, char buffer[LOG_WORD_BYTES]);

/* Writes the decimal digits of `value` to `buffer`, which must have at least 21 bytes. Returns `buffer`.
 * [handler] */
const char *log_decimal(uint64_t value, char *buffer);

#endif
