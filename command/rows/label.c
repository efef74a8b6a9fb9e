#include "command/rows/label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/rows/own.h"
#include "command/text/format.h"
#include "command/text/memory.h"

#define NAME_COLUMNS 48 /* maximum number of columns for a function's name in a context line */
/* with fewer columns, a name is printed without callers, because shortened names look alike */
#define NARROW_COLUMNS 24
#define CALLED_COLUMNS 32 /* maximum number of columns for the name of the called function */
/* minimum number of columns for the shortened name of a caller; used if the row's own name says too little */
#define CALLER_COLUMNS 6
#define RECURSIVE      " (recursive)"

static bool row_label_is_construct(const struct row *row)
{
    return row->kind == ROW_PARALLEL || row->kind == ROW_TASK;
}

/* Returns whether the caller has another row with the same name, called from another line. The name alone
 * then does not identify the row. */
static bool row_has_twin(const struct rows *rows, uint32_t index)
{
    const struct row *row = &rows->row[index];
    if (row->call_line <= 0 || row->parent == ROW_NONE)
        return false;
    for (uint32_t i = row->parent + 1; i < rows->row[row->parent].end; i = rows->row[i].end)
        if (rows->row[i].call_line > 0 && rows->row[i].call_line != row->call_line &&
            strcmp(rows->row[i].label->name, row->label->name) == 0)
            return true;
    return false;
}

/* Returns the outermost of the calls by which a row's function has called itself, if nothing but their number tells them
 * apart; usually the row itself. */
static uint32_t row_outermost_call(const struct rows *rows, uint32_t index)
{
    uint32_t parent = rows->row[index].parent;
    while (parent != ROW_NONE && rows->row[parent].function == rows->row[index].function &&
           !row_has_twin(rows, index)) {
        index = parent;
        parent = rows->row[index].parent;
    }
    return index;
}

char *row_tree_label(const struct rows *rows, uint32_t index)
{
    const struct row *row = &rows->row[index];
    const char *inlined = row->kind == ROW_INLINED ? " (inlined)" : "";
    char note[300] = "";
    bool caller = rows->callers && row->depth > 1;
    int line = caller ? row->call_line : row->label->line;
    char call[16] = "";
    if (row->kind == ROW_STATEMENT || row->kind == ROW_ROOT)
        return format_printable("%s", row->label->name);
    if (!rows->callers && row->call_line > 0 && (!row_label_is_construct(row) || row_has_twin(rows, index)))
        snprintf(call, sizeof call, "%d: ", row->call_line);
    if (row->note)
        snprintf(note, sizeof note, " (%s)", row->note);
    if (*row->label->file && line > 0 && (caller || !row_label_is_construct(row)))
        return format_printable("%s%s%s%s  %s:%d", call, row->label->name, inlined, note,
                                format_base_name(row->label->file), line);
    if (*row->label->module && !*row->label->file && !row_is_probe(row) && !strchr(row->label->name, '+'))
        return format_printable("%s%s%s%s  (%s)", call, row->label->name, inlined, note, row->label->module);
    return format_printable("%s%s%s%s", call, row->label->name, inlined, note);
}

/* A source position. called: row of the foreign function that is called at the position; ROW_NONE: the cost
 * is the own cost of the code there. */
struct position {
    const char *file;
    int line;
    uint32_t called;
};

/* Returns the cost of a foreign row with everything that it calls, except for the program's own code that it
 * calls back. */
static double row_label_value_of_call(const struct rows *rows, uint32_t call, enum metric metric)
{
    double value = 0;
    for (uint32_t i = call; i < rows->row[call].end;) {
        const struct row *row = &rows->row[i];
        if (row->kind != ROW_STATEMENT && !row->foreign) {
            i = row->end;
            continue;
        }
        if (row->kind != ROW_STATEMENT)
            value += metric_value(rows, row->exclusive, metric);
        i++;
    }
    return value;
}

/* Returns the position of a statement. Compilers may lose which inlined function of a library the code of a header came
 * from; then it is the line on which the program's own function begins. */
static struct position row_label_statement(const struct row_label *function, const struct row_label *statement)
{
    bool strange =
        rows_file_is_system_source(statement->file) && *function->file && !rows_file_is_system_source(function->file);
    const struct row_label *at = strange ? function : statement;
    return (struct position){at->file, at->line, ROW_NONE};
}

/* Returns the source position of a context: the statement with the highest metric or, if there is none, with most work; or
 * the nearest call on the path with a known line. With `calls`, a call of foreign code counts like a statement. */
static struct position row_label_find_source(const struct rows *rows, uint32_t index, enum metric metric, bool calls)
{
    const struct row *row = &rows->row[index];
    struct position position = {.file = "", .called = ROW_NONE};
    double most = 0;
    if (row->kind == ROW_STATEMENT)
        position = row_label_statement(rows->row[row->parent].label, row->label);
    for (uint32_t child = index + 1; child < row->end; child = rows->row[child].end) {
        const struct row *at = &rows->row[child];
        bool call = calls && at->foreign && at->call_line > 0;
        double value = call                        ? row_label_value_of_call(rows, child, metric)
                       : at->kind == ROW_STATEMENT ? metric_value(rows, at->exclusive, metric)
                                                   : 0;
        if (value <= most)
            continue;
        most = value;
        position = call ? (struct position){row->label->file, at->call_line, child}
                        : row_label_statement(row->label, at->label);
    }
    /* nobody held the lock, so show where threads waited for it */
    if (position.line <= 0 && calls && metric == METRIC_LOCK_WAIT)
        return row_label_find_source(rows, index, METRIC_LOCK_WAIT_HERE, calls);
    /* code that others wait for may have nothing of the metric itself */
    if (position.line <= 0 && metric != METRIC_WORK)
        return row_label_find_source(rows, index, METRIC_WORK, calls);
    for (; position.line <= 0 && index != 0 && row->kind != ROW_PSEUDO; index = rows->row[index].parent) {
        const struct row *at = &rows->row[index], *parent = &rows->row[at->parent];
        if (at->call_line > 0 && *parent->label->file) {
            position.file = parent->label->file;
            position.line = at->call_line;
        }
    }
    return position;
}

/* Appends text to a line, in at most `columns` columns. Returns the number of columns used. */
static size_t row_label_append(char *to, size_t room, const char *text, size_t columns, bool utf8)
{
    char *fitting = format_fit(text, columns, utf8);
    size_t length = strlen(to);
    snprintf(to + length, room - length, "%s", fitting);
    free(fitting);
    return format_columns(to + length);
}

/* Writes the foreign function that was called, for example " (in cos, libm)". A name that is too long loses what is in
 * brackets. */
static void row_label_describe_call(const struct rows *rows, uint32_t called, const char *own_module, char *text,
                                    size_t bytes)
{
    char name[4 * CALLED_COLUMNS + 1];
    *text = '\0';
    if (called == ROW_NONE)
        return;
    const struct row_label *label = rows->row[called].label;
    char *clean = format_clean(label->name, true), *bare = memory_array(strlen(clean) + 1, 1);
    bool elsewhere = *label->module && strcmp(label->module, own_module) != 0;
    format_bare_name(bare, strlen(clean) + 1, clean);
    const char *type = strrchr(bare, ' '); /* before the name is the type that the function returns */
    bool whole = !*bare || strcmp(bare, clean) == 0 || format_columns(clean) <= CALLED_COLUMNS;
    format_shorten(name, sizeof name, whole ? clean : type ? type + 1 : bare, CALLED_COLUMNS, false);
    snprintf(text, bytes, " (in %s%s%.*s)", name, elsewhere ? ", " : "",
             elsewhere ? (int)strcspn(label->module, ".") : 0, label->module);
    free(bare);
    free(clean);
}

/* Returns the row's name, its position and as many callers as fit. With `instances`, the numbered executions
 * of phases are listed among the callers. */
static char *row_make_label(const struct rows *rows, uint32_t index, struct position at, size_t columns, bool utf8,
                            bool instances)
{
    size_t room = 4 * columns + 64, used = 0;
    char *label = memory_array(room, 1), position[300], call[4 * CALLED_COLUMNS + 100];
    uint32_t function = rows->row[index].kind == ROW_STATEMENT ? rows->row[index].parent : index;
    position[0] = '\0';
    if (at.line > 0)
        snprintf(position, sizeof position, "  %.200s:%d", format_base_name(at.file), at.line);
    row_label_describe_call(rows, at.called, rows->row[function].label->module, call, sizeof call);
    bool narrow = columns < NARROW_COLUMNS;
    size_t for_name = narrow ? columns : columns > 2 * NAME_COLUMNS ? NAME_COLUMNS : columns * 6 / 10;
    uint32_t called = row_outermost_call(rows, function), caller = rows->row[called].parent;
    used = row_label_append(label, room, rows->row[function].label->name, for_name, utf8);
    if (called != function && used + strlen(RECURSIVE) <= for_name)
        used += row_label_append(label, room, RECURSIVE, for_name, utf8);
    if (!narrow || used + strlen(position) <= columns)
        used += row_label_append(label, room, position, columns - used, utf8);
    if (used + format_columns(call) <= columns)
        used += row_label_append(label, room, call, columns - used, utf8);
    for (bool first = true; caller != ROW_NONE && caller != 0; caller = rows->row[called].parent, first = false) {
        char line[16 + sizeof RECURSIVE] = "";
        if (row_has_twin(rows, called))
            snprintf(line, sizeof line, ":%d", rows->row[called].call_line);
        if (!instances && row_is_instance(rows->row, caller))
            caller = rows->row[caller].parent;
        const char *name = rows->row[caller].label->name;
        called = row_outermost_call(rows, caller);
        if (called != caller)
            strcat(line, RECURSIVE);
        char *clean = format_clean(name, true);
        size_t width = format_columns(clean);
        free(clean);
        width = (width > NAME_COLUMNS ? NAME_COLUMNS : width) + strlen(line);
        bool outermost = rows->row[called].parent == 0;
        if (used + 4 + width + (outermost ? 0 : 6) > columns) {
            if (first && rows->row[index].kind == ROW_PSEUDO && used + 4 + CALLER_COLUMNS <= columns) {
                /* <no core> alone does not say which function had no core */
                row_label_append(label, room, "  < ", 4, utf8);
                row_label_append(label, room, name, columns - used - 4, utf8);
            } else if (used + (first ? 7 : 6) <= columns)
                row_label_append(label, room, first ? "  < ..." : " < ...", 7, utf8);
            break;
        }
        used += row_label_append(label, room, first ? "  < " : " < ", 4, utf8);
        used += row_label_append(label, room, name, width - strlen(line), utf8);
        used += row_label_append(label, room, line, strlen(line), utf8);
    }
    return label;
}

/* Returns true for a function of a library's header (std::mutex::lock), which was inlined. */
static bool row_is_inlined_library(const struct rows *rows, uint32_t row)
{
    const struct row *function = &rows->row[rows->row[row].kind == ROW_STATEMENT ? rows->row[row].parent : row];
    return function->kind == ROW_INLINED && function->foreign;
}

char *row_context_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8)
{
    if (row_is_inlined_library(rows, row))
        return row_own_label(rows, row, metric, columns, utf8);
    return row_make_label(rows, row, row_label_find_source(rows, row, metric, false), columns, utf8, true);
}

char *row_own_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8)
{
    uint32_t own = rows_own(rows, row);
    return row_make_label(rows, own, row_label_find_source(rows, own, metric, true), columns, utf8, true);
}

char *row_call_label(const struct rows *rows, uint32_t call, enum metric metric, size_t columns, bool utf8)
{
    uint32_t own = rows_own(rows, call), outermost = rows_outermost(rows, call);
    struct position at = {rows->row[own].label->file, rows->row[outermost].call_line, ROW_NONE};
    if (outermost == own || at.line <= 0)
        at = row_label_find_source(rows, own, metric, true);
    at.called = ROW_NONE;
    return row_make_label(rows, own, at, columns, utf8, true);
}

char *row_culprit_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8)
{
    bool handoff = row_is_handoff(&rows->row[row]);
    uint32_t shown = handoff ? row : rows_own(rows, row);
    return row_make_label(rows, shown, row_label_find_source(rows, shown, metric, !handoff), columns, utf8, false);
}
