/* Frames: the distinct functions of all rows, numbered in the order in which they first appear. Formats list
 * each function once and then refer to it by its number. */
#ifndef BLAME_COMMAND_EXPORT_FRAMES_H
#define BLAME_COMMAND_EXPORT_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "command/rows/row.h"

struct frames {
    const struct row_label **label; /* for each frame, its label; frame 0 is that of the root */
    size_t count, room;
    uint32_t *of_row; /* for each row, its frame; a statement row has the frame of its function */
    uint32_t depth;   /* depth of the deepest row */
};

void export_frames_gather(struct frames *frames, const struct rows *rows);
void export_frames_free(struct frames *frames);

#endif
