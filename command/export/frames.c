#include "command/export/frames.h"

#include <stdlib.h>

#include "command/profile/pair_map.h"
#include "command/text/memory.h"

static void export_frames_number_row(struct frames *frames, const struct rows *rows, uint32_t index,
                                     struct pair_map *seen)
{
    const struct row *row = &rows->row[index];
    frames->depth = row->depth > frames->depth ? row->depth : frames->depth;
    if (row->kind == ROW_STATEMENT) {
        frames->of_row[index] = frames->of_row[row->parent];
        return;
    }
    /* All rows of a function share its label. */
    uint32_t *slot = pair_map_slot(seen, (uintptr_t)row->label, 0);
    if (*slot == PAIR_MAP_NEW) {
        memory_grow(&frames->label, &frames->room, frames->count, sizeof *frames->label);
        frames->label[frames->count] = row->label;
        *slot = (uint32_t)frames->count++;
    }
    frames->of_row[index] = *slot;
}

void export_frames_gather(struct frames *frames, const struct rows *rows)
{
    struct pair_map seen = {0};
    *frames = (struct frames){.of_row = memory_array(rows->count, sizeof *frames->of_row)};
    for (uint32_t i = 0; i < rows->count; i++)
        export_frames_number_row(frames, rows, i, &seen);
    pair_map_free(&seen);
}

void export_frames_free(struct frames *frames)
{
    free(frames->label);
    free(frames->of_row);
}
