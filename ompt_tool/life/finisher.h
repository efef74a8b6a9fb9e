/* The process that makes reports of the measurement file: `blame finish`, the command beside the library. */
#ifndef BLAME_OMPT_TOOL_LIFE_FINISHER_H
#define BLAME_OMPT_TOOL_LIFE_FINISHER_H

#include <stdbool.h>
#include <stddef.h>

/* Looks for the command, as long as the program is where it started. [init] */
void finisher_find(void);

/* Runs it on a complete measurement file and waits for its end; what it has to say it says on stderr. False, and why in
 * a few words, when there are no reports. [init] */
bool finisher_run(const char *directory, const char *file, char *why, size_t why_bytes);

#endif
