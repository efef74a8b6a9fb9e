#include "report/views/folded.h"

#include <stdlib.h>
#include <string.h>

#include "report/text/format.h"

/* What a row's stack is worth on its own: with what was cut below it, and in a tree of callers, what none of
 * the callers shown accounts for. */
static double own_value(const struct rows *rows, uint32_t index, enum metric metric)
{
    const struct row *row = &rows->row[index];
    bool by_exclusive = rows->by_exclusive, split = by_exclusive || rows->cut;
    bool inclusive = split && (index == 0 || !by_exclusive);
    double value = metric_value(rows, inclusive ? row->inclusive : row->exclusive, metric);
    for (uint32_t child = index + 1; split && child < row->end; child = rows->row[child].end) {
        const struct row *below = &rows->row[child];
        if (below->kind != ROW_STATEMENT)
            value -= metric_value(rows, by_exclusive ? below->exclusive : below->inclusive, metric);
    }
    return value;
}

/* A frame's name without what separates frames and lines. */
static char *frame_name(const struct row *row)
{
    char *name = format_clean(row->label->name, true);
    for (char *at = name; at && *at; at++)
        if (*at == ';')
            *at = ':';
    return name;
}

bool view_folded(FILE *out, const struct rows *rows, enum metric metric)
{
    double scale = metric == METRIC_SAMPLES || rows->events ? 1 : 1e6;
    size_t capacity = 256, *length = NULL; /* length of the stack's text up to a depth */
    size_t text_capacity = 4096;
    char *text = malloc(text_capacity);
    length = calloc(capacity, sizeof *length);
    bool good = text && length;
    for (uint32_t i = 0; good && i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        if (row->kind == ROW_STATEMENT)
            continue;
        char *name = frame_name(row);
        size_t before = row->depth > 1 ? length[row->depth - 1] : 0, name_length = name ? strlen(name) : 0;
        if (before + name_length + 2 > text_capacity) {
            text_capacity = 2 * (before + name_length + 2);
            char *bigger = realloc(text, text_capacity);
            good = bigger != NULL;
            text = bigger ? bigger : text;
        }
        if (good && row->depth >= capacity) {
            size_t *longer = realloc(length, 2 * capacity * sizeof *length);
            good = longer != NULL;
            length = longer ? longer : length;
            capacity *= 2;
        }
        good = good && name;
        if (good) {
            if (row->depth > 1)
                text[before++] = ';';
            memcpy(text + before, name, name_length + 1);
            length[row->depth] = before + name_length;
            double value = own_value(rows, i, metric) * scale;
            char number[FORMAT_NUMBER_BYTES];
            if (value >= 0.5)
                fprintf(out, "%s %s\n", text, format_decimal(number, value, 0));
        }
        free(name);
    }
    free(text);
    free(length);
    return good;
}
