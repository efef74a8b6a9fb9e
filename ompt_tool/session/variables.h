/* Reads the measurement's options from the environment. */
#ifndef BLAME_OMPT_TOOL_SESSION_VARIABLES_H
#define BLAME_OMPT_TOOL_SESSION_VARIABLES_H

#include <stddef.h>

/* Fills session.options. Reports each bad value on stderr and uses its default. [init] */
void variables_read(void);

/* Writes to `text` the values in effect, as lines "NAME=value" for run.json. [init] */
void variables_print(char *text, size_t bytes);

#endif
