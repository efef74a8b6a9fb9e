/* Data on its way to a terminal. */
#ifndef BLAME_CLI_CLEAN_STREAM_H
#define BLAME_CLI_CLEAN_STREAM_H

#include <stdio.h>

/* A stream to another one in which control characters, as names may have them, do nothing: `?` stands in
 * their places. fclose() it before the other one. */
FILE *clean_stream(FILE *terminal);

#endif
