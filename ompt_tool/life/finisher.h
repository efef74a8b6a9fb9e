/* Runs `blame finish`, the process that makes the reports from the measurement file. The command's file is
 * found relative to the library's. */
#ifndef BLAME_OMPT_TOOL_LIFE_FINISHER_H
#define BLAME_OMPT_TOOL_LIFE_FINISHER_H

#include <stdbool.h>
#include <stddef.h>

/* Looks for the command. Must be called before the program changes its current directory. [init] */
void finisher_find(void);

/* Runs `blame finish` on a complete measurement file and waits for its end. Its messages go to stderr.
 * Returns false if no reports were made, and writes the reason to `why`. [init] */
bool finisher_run(const char *directory, const char *file, char *why, size_t why_bytes);

#endif
