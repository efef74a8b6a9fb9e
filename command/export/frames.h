/* The distinct functions of all rows, numbered in order of appearance. Formats list each function once and
 * refer to its number, called a frame here. */
#ifndef BLAME_COMMAND_EXPORT_FRAMES_H
#define BLAME_COMMAND_EXPORT_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "command/rows/row.h"

struct frames {
    const struct row_label **label; /* labels by frame; frame 0 is the root's */
    size_t count, room;
    uint32_t *of_row; /* frame of each row; a statement row has the frame of its function */
    uint32_t depth;   /* depth of the deepest row */
};

void frames_gather(struct frames *frames, const struct rows *rows);
void frames_free(struct frames *frames);

#endif
