/* Where the measurement goes. */
#ifndef BLAME_OMPT_TOOL_PLACE_H
#define BLAME_OMPT_TOOL_PLACE_H

#include <stdbool.h>

#include "ompt_tool/job.h"

/* Makes the output directory, or joins that of the job, and opens the arena: fills directory, file, target and process of
 * the session. False after a line on stderr. [init] */
bool place_open(void);

/* The job that the file is one of; NULL: the directory is this process's own. [any] */
const struct job *place_job(void);

#endif
