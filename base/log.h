/* Prints lines for the user on stderr, without stdio, so that it works in a damaged process. A closed pipe or
 * a file limit raises no signal, and no call waits for a reader that does not read. */
#ifndef BLAME_BASE_LOG_H
#define BLAME_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes "blame: " and the NULL-terminated list of strings as one line, by one write(2). A line longer than
 * 1,024 bytes is cut. [any] */
void log_line(const char *first, ...) __attribute__((sentinel));

/* Writes a line that every rank of a job would write; only the first rank does. [init] */
void log_line_of_job(const char *first, ...) __attribute__((sentinel));

/* Returns true with BLAME_SUMMARY=0: only errors are wanted, no explanations. [init] */
bool log_is_quiet(void);

/* Remembers which file stderr is. If stderr is closed, its number may go to a file of the program's, which
 * must not receive our lines. Only the first call counts. [init] */
void log_begin(void);

/* Returns false if stderr is another file by now; nothing is then written to it. [any] */
bool log_is_open(void);

/* Writes to stderr. Drops what no reader takes within a second, counted over all calls. [any] */
void log_write(const char *bytes, size_t count);

#define LOG_WORD_BYTES 4608 /* for log_word(): a path and its quotes */

/* Returns text as one word of a shell command: text itself, or a copy in single quotes in buffer. A text that
 * does not fit is returned as it is. [any] */
const char *log_word(const char *text, char buffer[LOG_WORD_BYTES]);

/* Writes the decimal digits of value into buffer (at least 21 bytes) and returns buffer. [handler] */
const char *log_decimal(uint64_t value, char *buffer);

#endif
