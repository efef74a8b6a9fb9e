/* omp_control_tool(): the standard's own commands, and the one by which include/blame.h asks for its calls. */
#ifndef BLAME_OMPT_TOOL_CONTROL_H
#define BLAME_OMPT_TOOL_CONTROL_H

#include <stdint.h>

/* OMPT's callback. start and pause begin and end what is measured, with the modifier BLAME_TRACE what is traced, flush has the file written to the disk,
 * end finishes the profile. 0: done, 1: ignored, -1: failed. [owner] */
int control_tool(uint64_t command, uint64_t modifier, void *argument, const void *codeptr);

#endif
