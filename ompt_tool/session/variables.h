/* The measurement's options, as the environment has them. */
#ifndef BLAME_OMPT_TOOL_SESSION_VARIABLES_H
#define BLAME_OMPT_TOOL_SESSION_VARIABLES_H

#include <stddef.h>

/* Fills session.options; a bad value is named on stderr and replaced by its default. [init] */
void variables_read(void);

/* The values in effect as "NAME=value" lines, for run.json. [init] */
void variables_print(char *text, size_t bytes);

#endif
