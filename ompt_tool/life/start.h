/* Starts a measurement. */
#ifndef BLAME_OMPT_TOOL_LIFE_START_H
#define BLAME_OMPT_TOOL_LIFE_START_H

#include <stdbool.h>
#include <stdint.h>

/* Looks for interpreters (Python, R) in the process, which the measurement file lists. [init] */
void start_find_interpreters(void);

/* Notes for `blame run` that this process is not measured and that the reason has been printed. [init] */
void start_refused(void);

/* Makes the output directory and the measurement file, and writes the file's header. Returns false, after
 * printing one line on stderr, if nothing can be measured. [init] */
bool start_measuring(uint64_t process_start_ns);

#endif
