/* The log of stacks (docs/time-and-traces.md) of measurements that are there. */
#ifndef BLAME_COMMAND_CLI_STACKS_FILE_H
#define BLAME_COMMAND_CLI_STACKS_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "command/export/stacks.h"

/* Of a profile directory, a measurement file, or a job, rank by rank. False after a message, also where there is no trace. */
bool stacks_write(const char *command, const char *input, FILE *out, enum stacks_clock clock);

#endif
