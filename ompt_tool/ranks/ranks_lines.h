/* Which process has which line of a job's segment, and who takes the segment's name away: guarantee X2 (docs/concurrency.md). */
#ifndef BLAME_OMPT_TOOL_RANKS_RANKS_LINES_H
#define BLAME_OMPT_TOOL_RANKS_RANKS_LINES_H

#include <stdbool.h>
#include <sys/types.h>

#include "blame/ranks.h"

/* A line for that process, which has none yet: of nobody's, or of a dead process's; RANKS_MAX: there is none. [init] */
uint32_t ranks_lines_claim(struct ranks_segment *segment, pid_t pid);
void ranks_lines_give_back(struct ranks_segment *segment, uint32_t line); /* [init] */

/* Behind a claim: the name is another's by now, or nobody's. [init] */
bool ranks_lines_are_closed(const struct ranks_segment *segment);

/* From now on others read the line. [init] */
void ranks_lines_show(struct ranks_segment *segment, uint32_t line, pid_t pid);

/* So many of so many that will come have come; true for one process alone: the last one, which removes the name. [any] */
bool ranks_lines_have_all_come(struct ranks_segment *segment, uint32_t expected);

/* Behind ranks_disappear(). True for one process alone: nobody is there any more, and it removes the name. [owner] */
bool ranks_lines_leave(struct ranks_segment *segment);

#endif
