#include "report/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"

#define NAME_COLUMNS 48 /* a caller's name in a context line is shortened to this */

const char *view_measure_title(enum measure measure)
{
    static const char *const titles[MEASURE_NAMED] = {
        [MEASURE_IDLENESS] = "idleness",
        [MEASURE_WORK] = "work",
        [MEASURE_OVERHEAD] = "overhead",
        [MEASURE_LOCK_WAIT] = "lock wait",
        [MEASURE_LOCK_WAIT_HERE] = "lock wait here",
        [MEASURE_CORE_IDLENESS] = "core idleness",
        [MEASURE_SHARED_IDLENESS] = "shared idleness",
        [MEASURE_SAMPLES] = "samples",
    };
    return measure < MEASURE_NAMED ? titles[measure] : "effort";
}

static bool is_construct(const struct row *row)
{
    return row->kind == ROW_PARALLEL || row->kind == ROW_TASK;
}

char *view_row_label(const struct rows *rows, uint32_t index)
{
    const struct row *row = &rows->row[index];
    const char *inlined = row->kind == ROW_INLINED ? " (inlined)" : "";
    char note[300] = "";
    bool caller = rows->callers && row->depth > 1;
    int line = caller ? row->call_line : row->label->line;
    char call[16] = "";
    if (row->kind == ROW_STATEMENT || row->kind == ROW_ROOT)
        return format_printable("%s", row->label->name);
    if (!rows->callers && row->call_line > 0 && !is_construct(row))
        snprintf(call, sizeof call, "%d: ", row->call_line);
    if (row->note)
        snprintf(note, sizeof note, " (%s)", row->note);
    if (*row->label->file && line > 0 && (caller || !is_construct(row)))
        return format_printable("%s%s%s%s  %s:%d", call, row->label->name, inlined, note,
                                format_base_name(row->label->file), line);
    if (*row->label->module && !*row->label->file && !row_is_marker(row) && !strchr(row->label->name, '+'))
        return format_printable("%s%s%s%s  (%s)", call, row->label->name, inlined, note, row->label->module);
    return format_printable("%s%s%s%s", call, row->label->name, inlined, note);
}

/* The source position of a context: its hottest statement, else the nearest call on its path with a known
 * line. */
static void find_source(const struct rows *rows, uint32_t index, enum measure measure, const char **file,
                        int *line)
{
    const struct row *row = &rows->row[index];
    double most = 0;
    *file = row->kind == ROW_STATEMENT ? row->label->file : "";
    *line = row->kind == ROW_STATEMENT ? row->label->line : 0;
    for (uint32_t child = index + 1; child < row->end; child = rows->row[child].end) {
        const struct row *statement = &rows->row[child];
        double value = measure_value(rows, statement->exclusive, measure);
        if (statement->kind == ROW_STATEMENT && value > most) {
            most = value;
            *file = statement->label->file;
            *line = statement->label->line;
        }
    }
    for (; *line <= 0 && index != 0 && row->kind != ROW_PSEUDO; index = rows->row[index].parent) {
        const struct row *at = &rows->row[index], *parent = &rows->row[at->parent];
        if (at->call_line > 0 && *parent->label->file) {
            *file = parent->label->file;
            *line = at->call_line;
        }
    }
}

/* Appends printable text, at most `columns` of it, to a line; returns the columns used. */
static size_t append(char *to, size_t room, const char *text, size_t columns, bool utf8)
{
    char *fitting = format_fit(text, columns, utf8);
    size_t length = strlen(to);
    if (!fitting)
        return 0;
    snprintf(to + length, room - length, "%s", fitting);
    free(fitting);
    return format_columns(to + length);
}

char *view_context_label(const struct rows *rows, uint32_t index, enum measure measure, size_t columns,
                         bool utf8)
{
    size_t room = 4 * columns + 64, used = 0;
    char *label = calloc(room, 1), position[300];
    const char *file;
    int line;
    if (!label)
        return NULL;
    find_source(rows, index, measure, &file, &line);
    uint32_t function = rows->row[index].kind == ROW_STATEMENT ? rows->row[index].parent : index;
    position[0] = '\0';
    if (line > 0)
        snprintf(position, sizeof position, "  %.200s:%d", format_base_name(file), line);
    size_t for_name = columns > 2 * NAME_COLUMNS ? NAME_COLUMNS : columns * 6 / 10;
    used = append(label, room, rows->row[function].label->name, for_name, utf8);
    used += append(label, room, position, columns - used, utf8);
    uint32_t caller = rows->row[function].parent;
    for (bool first = true; caller != ROW_NONE && caller != 0;
         caller = rows->row[caller].parent, first = false) {
        const char *name = rows->row[caller].label->name;
        char *clean = format_clean(name, true);
        size_t width = clean ? format_columns(clean) : 0;
        free(clean);
        width = width > NAME_COLUMNS ? NAME_COLUMNS : width;
        bool outermost = rows->row[caller].parent == 0;
        if (used + 4 + width + (outermost ? 0 : 6) > columns) {
            if (used + (first ? 7 : 6) <= columns)
                append(label, room, first ? "  < ..." : " < ...", 7, utf8);
            break;
        }
        used += append(label, room, first ? "  < " : " < ", 4, utf8);
        used += append(label, room, name, width, utf8);
    }
    return label;
}
