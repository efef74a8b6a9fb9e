#include "export/frames.h"

#include <stdlib.h>

#include "report/profile/pair_map.h"
#include "report/text/grow.h"

static bool number_row(struct frames *frames, const struct rows *rows, uint32_t index, struct pair_map *seen)
{
    const struct row *row = &rows->row[index];
    frames->depth = row->depth > frames->depth ? row->depth : frames->depth;
    if (row->kind == ROW_STATEMENT) {
        frames->of_row[index] = frames->of_row[row->parent];
        return true;
    }
    /* Rows of one function share their label. */
    uint32_t *slot = pair_map_slot(seen, (uintptr_t)row->label, 0);
    if (!slot)
        return false;
    if (*slot == PAIR_MAP_NEW) {
        if (!grow_list(&frames->label, &frames->room, frames->count, sizeof *frames->label))
            return false;
        frames->label[frames->count] = row->label;
        *slot = (uint32_t)frames->count++;
    }
    frames->of_row[index] = *slot;
    return true;
}

bool frames_gather(struct frames *frames, const struct rows *rows)
{
    struct pair_map seen = {0};
    *frames = (struct frames){.of_row = malloc(rows->count * sizeof *frames->of_row)};
    bool good = frames->of_row != NULL;
    for (uint32_t i = 0; good && i < rows->count; i++)
        good = number_row(frames, rows, i, &seen);
    pair_map_free(&seen);
    return good;
}

void frames_free(struct frames *frames)
{
    free(frames->label);
    free(frames->of_row);
}
