/* The end of a measurement. */
#ifndef BLAME_OMPT_TOOL_LIFE_FINISH_H
#define BLAME_OMPT_TOOL_LIFE_FINISH_H

/* Stops sampling, resolves what is left, completes the measurement file and waits for its reports. A second
 * call does nothing. [init] */
void finish_measuring(void);

#endif
