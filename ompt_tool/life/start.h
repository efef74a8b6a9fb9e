/* Starts a measurement. */
#ifndef BLAME_OMPT_TOOL_LIFE_START_H
#define BLAME_OMPT_TOOL_LIFE_START_H

#include <stdbool.h>
#include <stdint.h>

/* Looks for interpreters (Python, R) in the process, for the measurement to list. [init] */
void start_find_interpreters(void);

/* Notes for `blame run` that nothing is measured in this process and that the reason has been printed. [init] */
void start_refused(void);

/* Makes the output directory and the measurement file, and fills in the file's header. Returns false, after
 * one line on stderr, if nothing can be measured. [init] */
bool start_measuring(uint64_t process_start_ns);

#endif
