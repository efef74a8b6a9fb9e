/* Lines for the user on stderr, without stdio: usable in a damaged process, too. Neither a closed pipe nor a
 * limit on files raises a signal. */
#ifndef BLAME_BASE_LOG_H
#define BLAME_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Writes "blame: " and the NULL-terminated list of strings as one line, with one write(2); longer than 1,024
 * bytes is cut. [any] */
void log_line(const char *first, ...) __attribute__((sentinel));

/* Asks whether there is a stderr at all: closed when the tool starts, its number becomes that of a file of the program's, in which
 * our lines would stand. False: nothing is written then. [init] */
bool log_begin(void);

/* Decimal digits of value in buffer (at least 21 bytes); returns buffer. [handler] */
const char *log_decimal(uint64_t value, char *buffer);

#endif
