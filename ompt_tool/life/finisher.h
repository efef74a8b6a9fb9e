/* The process that makes the reports from the measurement file: `blame finish`, the command next to the
 * library. */
#ifndef BLAME_OMPT_TOOL_LIFE_FINISHER_H
#define BLAME_OMPT_TOOL_LIFE_FINISHER_H

#include <stdbool.h>
#include <stddef.h>

/* Looks for the command while the program's current directory is still the initial one. [init] */
void finisher_find(void);

/* Runs the command on a complete measurement file and waits for its end; its messages go to stderr. Returns
 * false if there are no reports, with the reason in *why. [init] */
bool finisher_run(const char *directory, const char *file, char *why, size_t why_bytes);

#endif
