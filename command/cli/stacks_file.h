/* Writes the log of stacks (docs/time-and-traces.md) from existing measurements. */
#ifndef BLAME_COMMAND_CLI_STACKS_FILE_H
#define BLAME_COMMAND_CLI_STACKS_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "command/export/stacks.h"

/* Writes the stacks of a profile directory, a measurement file, or a job, rank by rank. Returns false after a
 * message, also if there is no trace. */
bool stacks_write(const char *command, const char *input, FILE *out, enum stacks_clock clock);

#endif
