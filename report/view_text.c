#include "report/views.h"

#include <stdlib.h>
#include <string.h>

#include "report/conservation.h"
#include "report/format.h"

#define MOST_COLUMNS 6  /* of numbers */
#define LEAST_TREE   36 /* columns of the terminal that the tree gets before further numbers do */

struct number_column {
    enum measure measure;
    bool exclusive;
    bool percent;
    const char *title;
    size_t width;
};

struct table {
    FILE *out;
    const struct rows *rows;
    const struct view_style *style;
    struct number_column column[MOST_COLUMNS];
    size_t column_count, tree_columns;
    int decimals;
    bool *visible;
    uint32_t *last_child; /* by row: its last child that is shown */
    bool *last;           /* by depth: the row shown there has no further sibling */
};

static double primary_value(const struct table *table, const struct row *row)
{
    const struct profile_metric *metric =
        table->style->by_exclusive && row->kind != ROW_ROOT ? row->exclusive : row->inclusive;
    return measure_value(table->rows, metric, table->style->measure);
}

void view_text_header(FILE *out, const struct profile *profile, const char *title, size_t columns, bool utf8)
{
    const struct profile_header *header = &profile->header;
    const char *command = profile_text(profile, "command"), *host = profile_text(profile, "host");
    char wall[FORMAT_NUMBER_BYTES], where[160], line[1700], facts[320];
    char *clean = format_clean(command ? command : "(command unknown)", true);
    snprintf(where, sizeof where, "  (%s%.64s%spid %d)", host ? "on " : "", host ? host : "",
             host ? ", " : "", header->pid);
    size_t taken = strlen(title) + 2 + strlen(where);
    format_shorten(line, sizeof line, clean ? clean : "", columns > taken + 16 ? columns - taken : 16, utf8);
    fprintf(out, "%s: %s%s\n", title, line, where);
    snprintf(facts, sizeof facts,
             "%.40s s wall time, %u thread%s, %u core%s, %s; %u samples/s and thread, %s clock%s",
             format_decimal(wall, profile_wall_s(profile), 2), header->threads_max,
             header->threads_max == 1 ? "" : "s", header->cores, header->cores == 1 ? "" : "s",
             header->environment == 1 ? "shared" : "dedicated", header->rate,
             header->clock == 1 ? "CPU" : "wall", header->finished ? "" : "; did not end normally");
    format_paragraph(out, facts, columns);
    free(clean);
}

static void add_column(struct table *table, enum measure measure, bool exclusive, bool percent,
                       const char *title)
{
    size_t width = strlen(title) + 1 < 8 ? 8 : strlen(title) + 1;
    struct number_column column = {measure, exclusive, percent, title, percent ? 6 : width};
    if (table->column_count >= 3 && table->tree_columns < column.width + LEAST_TREE)
        return;
    table->column[table->column_count++] = column;
    table->tree_columns -= table->tree_columns > column.width ? column.width : table->tree_columns;
}

static void choose_columns(struct table *table)
{
    static const enum measure others[] = {MEASURE_IDLENESS, MEASURE_LOCK_WAIT, MEASURE_WORK,
                                          MEASURE_OVERHEAD};
    const struct view_style *style = table->style;
    table->tree_columns = style->columns - 2;
    add_column(table, style->measure, style->by_exclusive, false, view_measure_title(style->measure));
    add_column(table, style->measure, style->by_exclusive, true, "%");
    add_column(table, style->measure, !style->by_exclusive, false, style->by_exclusive ? "incl." : "itself");
    for (size_t i = 0; i < sizeof others / sizeof *others && table->column_count < MOST_COLUMNS; i++)
        if (others[i] != style->measure)
            add_column(table, others[i], style->by_exclusive, false, view_measure_title(others[i]));
    double effort = measure_value(table->rows, table->rows->row[0].inclusive, MEASURE_EFFORT);
    table->decimals = effort < 10 ? 3 : effort < 1000 ? 2 : 1;
}

static void print_titles(const struct table *table)
{
    const struct view_style *style = table->style;
    char text[640], number[FORMAT_NUMBER_BYTES];
    if (style->measure == MEASURE_SAMPLES)
        snprintf(text, sizeof text, "Per cent of all samples. ");
    else
        snprintf(text, sizeof text,
                 "Seconds; per cent of the whole effort, %.40s s of thread time (work + %sidleness + "
                 "overhead + lock wait). ",
                 format_decimal(number,
                                measure_value(table->rows, table->rows->row[0].inclusive, MEASURE_EFFORT), 2),
                 table->rows->shared ? "shared " : "");
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s. Sorted by %s",
             table->rows->callers
                 ? "Functions by their own cost, followed by their callers with the lines of the calls"
             : style->by_exclusive
                 ? "Functions by their own cost, followed by their source lines"
                 : "Rows include what they call; \"88: f\" is f called in line 88 of the row above",
             view_measure_title(style->measure));
    length = strlen(text);
    if (style->least_percent > 0)
        snprintf(text + length, sizeof text - length, ", cut below %.12s %% of it.",
                 format_decimal(number, style->least_percent, 1));
    else
        snprintf(text + length, sizeof text - length, ".");
    format_paragraph(table->out, text, style->columns);
    fputc('\n', table->out);
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(table->out, "%*s", (int)table->column[i].width, table->column[i].title);
    fputc('\n', table->out);
}

static void print_number(const struct table *table, const struct row *row, const struct number_column *column)
{
    const struct profile_metric *metric =
        column->exclusive && row->kind != ROW_ROOT ? row->exclusive : row->inclusive;
    char number[FORMAT_NUMBER_BYTES] = "";
    double value;
    int decimals = table->decimals;
    if (column->percent) {
        value = measure_absolute(table->rows, metric, column->measure);
        decimals = 1;
    } else {
        value = measure_value(table->rows, metric, column->measure);
        if (column->measure == MEASURE_SAMPLES)
            decimals = 0;
    }
    if (value != 0 && !(column->exclusive && !table->style->by_exclusive && row->kind == ROW_ROOT))
        format_decimal(number, value, decimals);
    fprintf(table->out, "%*s", (int)column->width, number);
}

/* The lines of the tree in front of a row's label; returns their columns. */
static size_t print_branches(const struct table *table, const struct row *row)
{
    bool utf8 = table->style->utf8;
    const char *down = utf8 ? "\xe2\x94\x82 " : "| ";
    const char *branch = utf8 ? "\xe2\x94\x9c\xe2\x94\x80" : "|-";
    const char *corner = utf8 ? "\xe2\x94\x94\xe2\x94\x80" : "`-";
    if (row->depth == 0)
        return 0;
    if (2 * (size_t)row->depth > table->tree_columns / 2)
        return (size_t)fprintf(table->out, "(%u deep) ", row->depth);
    for (uint32_t depth = 1; depth < row->depth; depth++)
        fputs(table->last[depth] ? "  " : down, table->out);
    fputs(table->last[row->depth] ? corner : branch, table->out);
    return 2 * (size_t)row->depth;
}

static void print_row(const struct table *table, uint32_t index)
{
    const struct rows *rows = table->rows;
    const struct row *row = &rows->row[index];
    char line[1700];
    if (row->depth)
        table->last[row->depth] = table->last_child[row->parent] == index;
    for (size_t i = 0; i < table->column_count; i++)
        print_number(table, row, &table->column[i]);
    fputs("  ", table->out);
    size_t taken = print_branches(table, row);
    char *label = view_row_label(rows, index);
    format_shorten(line, sizeof line, label ? label : "",
                   table->tree_columns > taken ? table->tree_columns - taken : 8, table->style->utf8);
    fprintf(table->out, "%s\n", line);
    free(label);
}

static void print_cut(const struct table *table, size_t cut, double cut_value)
{
    char percent[FORMAT_NUMBER_BYTES], value[FORMAT_NUMBER_BYTES], text[320];
    bool samples = table->style->measure == MEASURE_SAMPLES;
    snprintf(text, sizeof text, "%zu row%s below %.12s %% of the %s cut, together %.40s%s; --min 0 shows all",
             cut, cut == 1 ? "" : "s", format_decimal(percent, table->style->least_percent, 1),
             view_measure_title(table->style->measure),
             format_decimal(value, cut_value, samples ? 0 : table->decimals), samples ? "" : " s");
    fputc('\n', table->out);
    format_paragraph(table->out, text, table->style->columns);
}

/* Marks what is shown: rows of at least the least value (a share of the program's; where the sum is negative,
 * as core idleness with more threads than cores, of its effort), and what leads to them. */
static void choose_visible(struct table *table)
{
    const struct rows *rows = table->rows;
    double total = primary_value(table, &rows->row[0]);
    if (!(total > 0))
        total = measure_value(rows, rows->row[0].inclusive, MEASURE_EFFORT);
    double least = table->style->least_percent * 0.01 * total;
    for (uint32_t i = (uint32_t)rows->count; i-- > 0;) {
        uint32_t parent = rows->row[i].parent;
        if (i == 0 || table->style->least_percent <= 0 || primary_value(table, &rows->row[i]) >= least)
            table->visible[i] = true;
        if (!table->visible[i] || i == 0)
            continue;
        table->visible[parent] = true;
        if (!table->last_child[parent])
            table->last_child[parent] = i; /* children are met from the last to the first */
    }
}

static void print_rows(const struct table *table)
{
    const struct rows *rows = table->rows;
    size_t cut = 0;
    double cut_value = 0;
    for (uint32_t i = 0; i < rows->count;) {
        if (table->visible[i]) {
            print_row(table, i++);
            continue;
        }
        cut += rows->row[i].end - i;
        /* The rows of a bottom-up view share their parent's value: only the first level adds up. */
        if (!table->style->by_exclusive || rows->row[i].depth == 1)
            cut_value += primary_value(table, &rows->row[i]);
        i = rows->row[i].end;
    }
    if (cut)
        print_cut(table, cut, cut_value);
}

bool view_text(FILE *out, const struct profile *profile, const struct rows *rows,
               const struct view_style *style)
{
    struct table table = {.out = out, .rows = rows, .style = style};
    uint32_t deepest = 0;
    for (size_t i = 0; i < rows->count; i++)
        deepest = rows->row[i].depth > deepest ? rows->row[i].depth : deepest;
    table.visible = calloc(rows->count + 1, sizeof *table.visible);
    table.last_child = calloc(rows->count + 1, sizeof *table.last_child);
    table.last = calloc((size_t)deepest + 1, sizeof *table.last);
    bool good = table.visible && table.last_child && table.last;
    if (good) {
        view_text_header(out, profile, style->title, style->columns, style->utf8);
        choose_columns(&table);
        print_titles(&table);
        if (primary_value(&table, &rows->row[0]) == 0 && style->least_percent > 0) {
            fprintf(out, "No %s was measured.\n", view_measure_title(style->measure));
        } else {
            choose_visible(&table);
            print_rows(&table);
        }
    }
    free(table.visible);
    free(table.last_child);
    free(table.last);
    return good;
}
