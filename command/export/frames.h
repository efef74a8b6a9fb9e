/* The functions of rows, numbered in the order in which they appear: what formats list once and refer to. */
#ifndef BLAME_COMMAND_EXPORT_FRAMES_H
#define BLAME_COMMAND_EXPORT_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "command/rows/row.h"

struct frames {
    const struct row_label **label; /* by frame; 0 is the root's */
    size_t count, room;
    uint32_t *of_row; /* by row: its frame; statement rows have their function's */
    uint32_t depth;   /* of the deepest row */
};

void frames_gather(struct frames *frames, const struct rows *rows);
void frames_free(struct frames *frames);

#endif
