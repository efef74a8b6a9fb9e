/* Output to a terminal without control characters. */
#ifndef BLAME_COMMAND_CLI_CLEAN_STREAM_H
#define BLAME_COMMAND_CLI_CLEAN_STREAM_H

#include <stdio.h>

/* Returns a stream that writes to a terminal without control characters. It replaces those of one byte by
 * `?`, and longer ones and invalid UTF-8 by U+FFFD. Close the stream before the terminal's own. */
FILE *clean_stream(FILE *terminal);

/* Removes control characters from stderr: messages contain file names, which may contain any bytes. */
void clean_stderr(void);

#endif
