/* Lines for the user on stderr, without stdio: usable in a damaged process, too. Neither a closed pipe nor a
 * limit on files raises a signal, and nobody waits for a reader that does not read. */
#ifndef BLAME_BASE_LOG_H
#define BLAME_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes "blame: " and the NULL-terminated list of strings as one line, with one write(2); longer than 1,024
 * bytes is cut. [any] */
void log_line(const char *first, ...) __attribute__((sentinel));

/* The same of what all ranks of a job would say: only the first one does. [init] */
void log_line_of_job(const char *first, ...) __attribute__((sentinel));

/* True with BLAME_SUMMARY=0: only errors are wanted, and no line that explains. [init] */
bool log_is_quiet(void);

/* Remembers what stderr is: closed when the tool starts or later, its number becomes that of a file of the program's, in which
 * our lines would stand. The first call counts. [init] */
void log_begin(void);

/* False: stderr is not what it was then, and nothing is written there. [any] */
bool log_is_open(void);

/* Writes to stderr, and leaves out what is not read within a second, in sum over all calls. [any] */
void log_write(const char *bytes, size_t count);

/* Decimal digits of value in buffer (at least 21 bytes); returns buffer. [handler] */
const char *log_decimal(uint64_t value, char *buffer);

#endif
