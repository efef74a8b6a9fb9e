/* Makes the output directory, and the measurement file in it. */
#ifndef BLAME_OMPT_TOOL_LIFE_OUTPUT_H
#define BLAME_OMPT_TOOL_LIFE_OUTPUT_H

#include <stdbool.h>

/* Makes the output directory, or joins the job's, and opens the measurement file as the arena. Fills
 * directory, file, target, process and job of `session`. Returns false after a line on stderr. [init] */
bool output_open(void);

#endif
