/* Output to a terminal without control characters. */
#ifndef BLAME_COMMAND_CLI_CLEAN_STREAM_H
#define BLAME_COMMAND_CLI_CLEAN_STREAM_H

#include <stdio.h>

/* Returns a stream that writes to a terminal and replaces control characters by `?`, and longer ones and
 * invalid UTF-8 by U+FFFD. fclose() it before the terminal's stream. */
FILE *clean_stream(FILE *terminal);

/* Does the same for stderr: messages contain file names, which anyone may have chosen. */
void clean_stderr(void);

#endif
