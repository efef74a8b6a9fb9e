/* Makes the output directory, and opens the measurement file in it. */
#ifndef BLAME_OMPT_TOOL_LIFE_OUTPUT_H
#define BLAME_OMPT_TOOL_LIFE_OUTPUT_H

#include <stdbool.h>

/* Makes the output directory, or joins the job's directory, and opens the measurement file as the arena. Sets
 * directory, file, target, process and job in `session`. Returns false, after printing a line on stderr, on
 * failure. [init] */
bool output_open(void);

#endif
