#include "command/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "command/text/format.h"
#include "command/text/memory.h"

/* Returns the value of a row's own stack. It includes the rows below that the view leaves out. In a tree of
 * callers, it is the part of the row's value that no shown caller caused. */
static double folded_value(const struct rows *rows, uint32_t index, enum metric metric)
{
    const struct row *row = &rows->row[index];
    bool by_exclusive = rows->by_exclusive, split = by_exclusive || rows->cut;
    bool inclusive = split && (index == 0 || !by_exclusive);
    double value = row_value(rows, row, !inclusive, metric);
    for (uint32_t child = index + 1; split && child < row->end; child = rows->row[child].end) {
        const struct row *below = &rows->row[child];
        if (below->kind != ROW_STATEMENT)
            value -= row_value(rows, below, by_exclusive, metric);
    }
    return value;
}

/* Returns a copy of the row's name, which the caller frees. ';' separates frames, so it is replaced by ':'. */
static char *folded_frame_name(const struct row *row)
{
    char *name = format_clean(row->label->name, true);
    for (char *at = name; *at; at++)
        if (*at == ';')
            *at = ':';
    return name;
}

void export_folded(FILE *out, const struct rows *rows, enum metric metric)
{
    double scale = metric == METRIC_SAMPLES || metric >= METRIC_COUNTER || rows->events ? 1 : 1e6;
    /* for each depth, the length of the stack's text up to that depth */
    size_t text_room = 0, length_room = 0, *length = NULL;
    char *text = NULL;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (row->kind == ROW_STATEMENT)
            continue;
        char *name = folded_frame_name(row);
        size_t before = row->depth > 1 ? length[row->depth - 1] : 0, name_length = strlen(name);
        while (before + name_length + 2 > text_room)
            memory_grow(&text, &text_room, text_room, 1);
        memory_grow(&length, &length_room, row->depth, sizeof *length);
        if (row->depth > 1)
            text[before++] = ';';
        memcpy(text + before, name, name_length + 1);
        length[row->depth] = before + name_length;
        double value = folded_value(rows, i, metric) * scale;
        if (value >= 0.5)
            fprintf(out, "%s %s\n", text, DECIMAL(value, 0));
        free(name);
    }
    free(text);
    free(length);
}
