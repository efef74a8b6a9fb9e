/* Data on its way to a terminal. */
#ifndef BLAME_COMMAND_CLI_CLEAN_STREAM_H
#define BLAME_COMMAND_CLI_CLEAN_STREAM_H

#include <stdio.h>

/* A stream to another one in which control characters, as names may have them, do nothing: `?` stands in
 * their places, and U+FFFD in those of longer ones and of what is no UTF-8. fclose() it before the other one. */
FILE *clean_stream(FILE *terminal);

/* Messages have names of files, which whoever made the files chose. */
void clean_stderr(void);

#endif
