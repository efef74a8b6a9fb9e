/* Writes the log of stacks (docs/time-and-traces.md) from a finished measurement. */
#ifndef BLAME_COMMAND_CLI_STACKS_FILE_H
#define BLAME_COMMAND_CLI_STACKS_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "command/export/stacks.h"

/* Writes the stacks of a profile directory or a measurement file, or of all ranks of a job in turn. Returns
 * false after a message if something cannot be read or there is no trace. */
bool stacks_write(const char *command, const char *input, FILE *out, enum stacks_clock clock);

#endif
