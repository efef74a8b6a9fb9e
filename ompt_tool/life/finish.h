/* Ends a measurement. */
#ifndef BLAME_OMPT_TOOL_LIFE_FINISH_H
#define BLAME_OMPT_TOOL_LIFE_FINISH_H

/* Stops the samples, books what is still pending, completes the measurement file, and waits for the reports.
 * A second call does nothing. [init] */
void finish_measuring(void);

#endif
