/* Reads the measurement's options from the environment. */
#ifndef BLAME_OMPT_TOOL_SESSION_VARIABLES_H
#define BLAME_OMPT_TOOL_SESSION_VARIABLES_H

#include <stddef.h>

/* Sets session.options. Prints a message for each bad value and uses the option's default. [init] */
void variables_read(void);

/* Writes the values in effect to `text`, as lines "NAME=value" for run.json. [init] */
void variables_print(char *text, size_t bytes);

#endif
