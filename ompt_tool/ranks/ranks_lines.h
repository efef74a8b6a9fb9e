/* Decides which process owns which line of a job's segment (its shared memory on this node), and which
 * process removes the segment's name: guarantee X2 (docs/concurrency.md). */
#ifndef BLAME_OMPT_TOOL_RANKS_RANKS_LINES_H
#define BLAME_OMPT_TOOL_RANKS_RANKS_LINES_H

#include <stdbool.h>
#include <sys/types.h>

#include "blame/ranks.h"

/* Claims a line for the process: a free one, or one whose owner is dead. Returns RANKS_MAX if there is none.
 * [init] */
uint32_t ranks_lines_claim(struct ranks_segment *segment, pid_t pid);
void ranks_lines_give_back(struct ranks_segment *segment, uint32_t line); /* [init] */

/* Returns true if the segment's name has been removed or already belongs to another segment. Must be called
 * after a claim. [init] */
bool ranks_lines_are_closed(const struct ranks_segment *segment);

/* Allows other processes to read the line. [init] */
void ranks_lines_show(struct ranks_segment *segment, uint32_t line, pid_t pid);

/* Counts one more of `expected` processes as arrived. Returns true only for the last one, which must remove
 * the name. [any] */
bool ranks_lines_have_all_come(struct ranks_segment *segment, uint32_t expected);

/* Returns true for only one process, when no other is left; that process must remove the segment's name. Must
 * be called after ranks_disappear(). [owner] */
bool ranks_lines_leave(struct ranks_segment *segment);

#endif
