#include "command/rows/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/profile/index_map.h"
#include "command/profile/pair_map.h"
#include "command/rows/make.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/strings.h"

enum { MATCH_FOCUS = 1, MATCH_HIDE = 2 };

struct filtering {
    const struct rows *rows;
    const struct rows_filter *filter;
    struct rows *view;
    uint32_t *target; /* for each row of the input, the row of the view that receives its cost */
    /* for each row of the input, the line in its target's code that leads to the rows below */
    int *call_line;
    unsigned char *match;      /* for each row of the input, its MATCH_ flags */
    bool *inside;              /* for each row of the input, whether it is on a path that the filter keeps */
    struct pair_map labels;    /* maps a label to MATCH_ flags */
    struct pair_map lines;     /* maps (file, line), module to an index into line_label */
    struct index_map children; /* index of the view's rows by parent, function, kind and line */
    const struct row_label **line_label;
    size_t line_count, line_capacity;
};

static bool rows_filter_matches(const regex_t *expression, const struct row_label *label)
{
    return expression && (regexec(expression, label->name, 0, NULL, 0) == 0 ||
                          (*label->file && regexec(expression, label->file, 0, NULL, 0) == 0));
}

/* Returns the MATCH_ flags of a row. The flags are stored for each label, because a million rows share a few
 * thousand labels. */
static unsigned rows_filter_match_row(struct filtering *to, const struct row *row)
{
    uint32_t *slot = pair_map_slot(&to->labels, (uintptr_t)row->label, 0);
    if (*slot == PAIR_MAP_NEW)
        *slot = (rows_filter_matches(to->filter->focus, row->label) ? MATCH_FOCUS : 0) |
                (rows_filter_matches(to->filter->hide, row->label) ? MATCH_HIDE : 0);
    return *slot;
}

/* Returns a child of a row in the view. Creates the child if there is none. */
static uint32_t rows_filter_find_child(struct filtering *to, uint32_t parent, enum row_kind kind, uint32_t function,
                                       const struct row_label *label, int line)
{
    uint32_t index = rows_find_child(to->view, &to->children, parent, kind, function, line);
    to->view->row[index].label = label;
    return index;
}

/* Returns the label of a source line that has no cost except that of the hidden rows that it called. */
static const struct row_label *rows_filter_find_line(struct filtering *to, uint32_t file_id, const char *file,
                                                     const char *module, int line)
{
    uint32_t *slot = pair_map_slot(&to->lines, (uint64_t)file_id << 32 | (unsigned)line, (uintptr_t)module);
    if (*slot != PAIR_MAP_NEW)
        return to->line_label[*slot];
    const char *base = format_base_name(file);
    struct row_label *label = rows_alloc(to->view, sizeof *label);
    size_t bytes = strlen(base) + 16;
    char *name = rows_alloc(to->view, bytes);
    memory_grow(&to->line_label, &to->line_capacity, to->line_count, sizeof *to->line_label);
    snprintf(name, bytes, "%s:%d", base, line);
    *label = (struct row_label){.name = name, .module = module, .file = file, .line = line};
    *slot = (uint32_t)to->line_count;
    to->line_label[to->line_count++] = label;
    return label;
}

static void rows_filter_add_exclusive(struct filtering *to, uint32_t index, const struct profile_sums *sums)
{
    rows_add_exclusive(to->view, &to->view->row[index], sums);
}

/* Adds the cost of a hidden row to the nearest visible caller, at the line of the call. */
static void rows_filter_add_hidden(struct filtering *to, uint32_t target, int line, const struct profile_sums *sums)
{
    const struct row_label *label = to->view->row[target].label;
    rows_filter_add_exclusive(to, target, sums);
    line = line > 0 ? line : label->line;
    if (!*label->file || line <= 0 || rows_sums_are_zero(sums) || !to->rows->strings)
        return;
    uint32_t file = strings_intern(to->rows->strings, label->file);
    const struct row_label *at = rows_filter_find_line(to, file, label->file, label->module, line);
    rows_filter_add_exclusive(to, rows_filter_find_child(to, target, ROW_STATEMENT, file, at, line), sums);
}

static void rows_filter_take_statement(struct filtering *to, uint32_t index)
{
    const struct row *row = &to->rows->row[index];
    uint32_t parent = row->parent, target = to->target[parent];
    /* only some statements of the function are kept, so its cost is added line by line */
    bool alone = !to->inside[parent];
    to->target[index] = target;
    if (!to->inside[index])
        return;
    if (to->match[parent] & MATCH_HIDE) {
        if (alone)
            rows_filter_add_hidden(to, target, to->call_line[parent], row->exclusive);
        return;
    }
    if (alone)
        rows_filter_add_exclusive(to, target, row->exclusive);
    if (to->match[index] & MATCH_HIDE)
        return;
    uint32_t statement = rows_filter_find_child(to, target, ROW_STATEMENT, row->function, row->label, row->label->line);
    rows_filter_add_exclusive(to, statement, row->exclusive);
    to->target[index] = statement;
}

static void rows_filter_take_row(struct filtering *to, uint32_t index)
{
    const struct row *row = &to->rows->row[index];
    uint32_t parent = row->parent, target = to->target[parent];
    bool parent_hidden = to->match[parent] & MATCH_HIDE;
    int line = parent_hidden ? to->call_line[parent] : row->call_line;
    to->call_line[index] = line;
    if (to->match[index] & MATCH_HIDE) {
        to->target[index] = target;
        if (to->inside[index])
            rows_filter_add_hidden(to, target, line, row->exclusive);
        return;
    }
    target = rows_filter_find_child(to, target, row->kind, row->function, row->label, line);
    to->target[index] = target;
    to->view->row[target].note = to->view->row[target].note ? to->view->row[target].note : row->note;
    if (to->inside[index])
        rows_filter_add_exclusive(to, target, row->exclusive);
}

static void rows_filter_take_rows(struct filtering *to)
{
    const struct rows *rows = to->rows;
    to->inside[0] = !to->filter->focus;
    if (to->inside[0])
        rows_filter_add_exclusive(to, 0, rows->row[0].exclusive);
    for (uint32_t i = 1; i < rows->count; i++) {
        to->match[i] = (unsigned char)rows_filter_match_row(to, &rows->row[i]);
        to->inside[i] = to->inside[rows->row[i].parent] || to->match[i] & MATCH_FOCUS;
        if (rows->row[i].kind == ROW_STATEMENT)
            rows_filter_take_statement(to, i);
        else
            rows_filter_take_row(to, i);
    }
}

/* Computes the inclusive sums. The exclusive sums are already complete: the sums of a function include those
 * of its statements. */
static void rows_filter_sum_inclusive(struct filtering *to)
{
    struct rows *view = to->view;
    for (size_t i = view->count; i-- > 0;) {
        struct row *row = &view->row[i];
        /* the children have larger indices, so their sums are complete */
        rows_add_inclusive(view, row, row->exclusive);
        if (i && row->kind != ROW_STATEMENT)
            rows_add_inclusive(view, &view->row[row->parent], row->inclusive);
    }
}

static void rows_filter_start(struct filtering *to)
{
    const struct rows *rows = to->rows;
    struct rows *view = to->view;
    to->target = memory_array(rows->count, sizeof *to->target);
    to->call_line = memory_array(rows->count, sizeof *to->call_line);
    to->match = memory_array(rows->count, sizeof *to->match);
    to->inside = memory_array(rows->count, sizeof *to->inside);
    view->node_row = memory_array(rows->node_count, sizeof *view->node_row);
    view->node_count = rows->node_count;
    rows_append(view, ROW_NONE, ROW_ROOT);
    view->row[0].label = rows->row[0].label;
    view->row[0].function = rows->row[0].function;
}

struct rows *rows_filter(const struct rows *rows, const struct rows_filter *filter)
{
    struct filtering to = {.rows = rows, .filter = filter, .view = rows_like(rows)};
    rows_filter_start(&to);
    rows_filter_take_rows(&to);
    rows_filter_sum_inclusive(&to);
    for (size_t n = 0; n < rows->node_count; n++) {
        uint32_t row = rows->node_row[n];
        bool gone = row == ROW_NONE || !to.inside[row] || (to.match[row] & MATCH_HIDE && row_is_probe(&rows->row[row]));
        to.view->node_row[n] = gone ? ROW_NONE : to.target[row];
    }
    if (rows->profile)
        rows_add_extras(to.view, rows->profile);
    pair_map_free(&to.labels);
    pair_map_free(&to.lines);
    index_map_free(&to.children);
    free(to.line_label);
    free(to.target);
    free(to.call_line);
    free(to.match);
    free(to.inside);
    rows_order(to.view, METRIC_ORDER, false);
    return to.view;
}

/* Returns the value that decides whether a row is shown. For blame, this is the largest of the sum and its
 * parts, because idleness may be negative. */
static double row_share_value(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric)
{
    double value = row_value(rows, row, exclusive, metric);
    if (metric != METRIC_BLAME)
        return value;
    for (size_t i = 0; i < METRIC_BLAME_PARTS; i++)
        value = fmax(value, row_value(rows, row, exclusive, metric_blame_part[i]));
    return value;
}

void rows_mark_shares(const struct rows *rows, enum metric metric, bool by_exclusive, double least, bool *visible)
{
    double total = rows_whole_value(rows, metric);
    if (!(total > 0) && metric < METRIC_COUNTER)
        total = metric_value(rows, rows_whole(rows), METRIC_EFFORT);
    for (size_t i = rows->count; i-- > 0;) {
        const struct row *row = &rows->row[i];
        visible[i] |= i == 0 || least <= 0 || row_share_value(rows, row, by_exclusive, metric) >= 0.01 * least * total;
        if (i && visible[i])
            visible[row->parent] = true;
    }
}

/* Removes the rows that are not visible or that are deeper than `depth`. Moves the other rows forward. */
static void rows_compact(struct rows *rows, const bool *visible, uint32_t depth)
{
    uint32_t kept = 1, above = 0;
    for (uint32_t i = 1; i < rows->count;) {
        struct row row = rows->row[i];
        if ((visible && !visible[i]) || row.depth > depth) {
            i = row.end;
            rows->cut = true;
            continue;
        }
        while (rows->row[above].depth >= row.depth)
            above = rows->row[above].parent;
        row.parent = above;
        rows->row[above = kept++] = row;
        i++;
    }
    rows->count = kept;
    for (uint32_t i = 0; i < kept; i++)
        rows->row[i].end = i + 1;
    for (uint32_t i = kept; i-- > 1;)
        if (rows->row[rows->row[i].parent].end < rows->row[i].end)
            rows->row[rows->row[i].parent].end = rows->row[i].end;
}

void rows_keep(struct rows *rows, const bool *visible)
{
    rows_compact(rows, visible, UINT32_MAX);
}

void rows_limit_depth(struct rows *rows, uint32_t depth)
{
    rows_compact(rows, NULL, depth);
}
