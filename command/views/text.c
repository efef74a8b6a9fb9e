/* Prints trees as text. */
#include "command/views/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/rows/error.h"
#include "command/rows/filter.h"
#include "command/rows/label.h"
#include "command/tables/conservation.h"
#include "command/tables/coverage.h"
#include "command/tables/ranks.h"
#include "command/text/format.h"
#include "command/text/memory.h"
#include "command/text/source_text.h"

#define LEAST_TREE    36 /* columns that must be left for the tree when a column of numbers is added */
#define ROOMY_TREE    48 /* the same, once there are as many additional columns as sure ones */
#define LEAST_SOURCE  12 /* columns of the shortest source line that is printed */
#define TITLE_COLUMNS 40 /* largest number of columns for a counter's name in the heading */

struct number_column {
    enum metric metric;
    bool exclusive, percent, hot; /* hot: whether the number may be printed in colour */
    bool error;                   /* whether the column has the error of the number in the column before it */
    char title[200];
    size_t width;
};

struct table {
    FILE *out;
    const struct rows *rows;
    const struct view_style *style;
    const struct profile *profile;
    struct number_column column[2 * VIEW_COLUMNS_MOST];
    size_t column_count, tree_columns;
    /* number of columns that are shown even in a narrow terminal; 0 while these are added */
    size_t sure_columns;
    int decimals;
    size_t number_columns; /* width of a number and the blank before it, in columns */
    bool *visible;
    uint32_t *last_child; /* by row: the last child that is shown */
    bool *last;           /* by depth: whether the row at that depth has no further sibling */
};

static double primary_value(const struct table *table, const struct row *row)
{
    return row_value(table->rows, row, table->style->by_exclusive && row->kind != ROW_ROOT, table->style->metric);
}

/* Returns a metric's title, or the beginning of a counter's name; malloc'ed. */
static char *column_title(const struct table *table, enum metric metric)
{
    return format_fit(rows_metric_title(table->rows, metric), TITLE_COLUMNS, table->style->utf8);
}

/* Prints the lines of the style's notes as paragraphs. */
static void print_notes(FILE *out, const struct view_style *style)
{
    for (const char *at = style->notes; at && *at;) {
        size_t bytes = strcspn(at, "\n");
        char *line = memory_check(strndup(at, bytes)), *clean = format_fit(line, bytes, style->utf8);
        format_paragraph(out, clean, style->columns);
        free(clean);
        free(line);
        at += bytes + (at[bytes] == '\n');
    }
}

/* If a counter triggered the samples, prints that the figures are events. */
static void print_sampling_note(FILE *out, const struct profile *profile, const struct view_style *style)
{
    const char *sample = profile_text(profile, "sample");
    char text[320];
    if (!sample)
        return;
    snprintf(text, sizeof text,
             "sampled by %.160s: the unit of all figures below is events (%.*s), even where it says seconds or s; idle "
             "threads may cause no events",
             sample, (int)strcspn(sample, "@"), sample);
    char *clean = format_fit(text, sizeof text, style->utf8);
    format_paragraph(out, clean, style->columns);
    free(clean);
}

static void print_coverage(FILE *out, const struct profile *profile, const struct view_style *style)
{
    struct coverage coverage;
    coverage_of(profile, &coverage);
    if (!coverage_is_poor(&coverage))
        return;
    char *line =
        format_printable("Only %s %% of the threads' time was measured%s%s", DECIMAL(coverage_percent(&coverage), 1),
                         *coverage.loss[0].cause ? ": " : "", coverage.loss[0].cause);
    format_paragraph(out, line, style->columns);
    free(line);
}

void view_text_header(FILE *out, const struct profile *profile, const struct view_style *style)
{
    const struct profile_header *header = &profile->header;
    const char *command = profile_text(profile, "command"), *host = profile_text(profile, "host"),
               *job = profile_text(profile, "job"), *runtime = profile_text(profile, "runtime");
    /* LLVM's runtime is the usual one, and its text only has a date */
    bool names_runtime = runtime && strncmp(runtime, "GNU ", 4) == 0;
    char where[160], rank[120], threads[80], size[240], facts[440], pace[64] = "samples by overflow";
    if (!profile_text(profile, "sample"))
        snprintf(pace, sizeof pace, "%u samples/s per thread, %s clock", header->rate,
                 header->clock == 1 ? "CPU" : "wall");
    snprintf(where, sizeof where, "  (%s%.64s%spid %d)", host ? "on " : "", host ? host : "", host ? ", " : "",
             header->pid);
    if (header->merged)
        snprintf(where, sizeof where, "%s%.64s%s", job ? "  (job " : "", job ? job : "", job ? ")" : "");
    size_t taken = strlen(style->title) + 2 + strlen(where);
    if (taken + 16 > style->columns) {
        where[0] = '\0';
        taken = strlen(style->title) + 2;
    }
    char *line = format_fit(command ? command : "(command unknown)",
                            style->columns > taken + 16 ? style->columns - taken : 16, style->utf8);
    char *clean = format_fit(where, style->columns, style->utf8);
    fprintf(out, "%s%s%s: %s%s\n", format_strong(style->colour), style->title, format_plain(style->colour), line,
            clean);
    rank_note(profile, rank, sizeof rank);
    profile_describe_threads(profile, threads, sizeof threads);
    if (!ranks_size(profile, size, sizeof size))
        snprintf(size, sizeof size, "%s, %u core%s%s", threads, header->cores, header->cores == 1 ? "" : "s", rank);
    snprintf(facts, sizeof facts, "%.40s s wall time, %s, %s; %s%s%.100s%s", DECIMAL(profile_wall_s(profile), 2), size,
             profile_environment(profile), pace, names_runtime ? "; " : "", names_runtime ? runtime : "",
             header->finished   ? ""
             : header->snapshot ? "; a snapshot of a running program"
                                : "; the program did not end normally, or replaced itself (exec)");
    format_paragraph(out, facts, style->columns);
    print_coverage(out, profile, style);
    print_sampling_note(out, profile, style);
    print_notes(out, style);
    free(line);
    free(clean);
}

/* Adds a column; returns false if there is no room for it. */
static bool add_column(struct table *table, enum metric metric, bool exclusive, bool percent, const char *title)
{
    bool counter = metric >= METRIC_COUNTER;
    size_t number = counter ? strlen(DECIMAL(rows_whole_value(table->rows, metric), 0)) + 1 : table->number_columns;
    size_t length = format_columns(title), least = percent ? 8 : number;
    size_t width = percent && length < 5 ? 6 : length + 1 < least ? least : length + 1;
    struct number_column *column = &table->column[table->column_count];
    size_t error_width = table->style->errors && !percent && !counter ? table->number_columns : 0,
           both = width + error_width;
    size_t tree = table->column_count < 2 * table->sure_columns ? LEAST_TREE : ROOMY_TREE;
    if (table->sure_columns && table->tree_columns < both + tree)
        return false;
    *column = (struct number_column){.metric = metric,
                                     .exclusive = exclusive,
                                     .percent = percent,
                                     .hot = metric == table->style->metric && exclusive == table->style->by_exclusive,
                                     .width = width};
    snprintf(column->title, sizeof column->title, "%s", title);
    table->column_count++;
    table->tree_columns -= table->tree_columns > both ? both : table->tree_columns;
    if (error_width)
        table->column[table->column_count++] =
            (struct number_column){.metric = metric,
                                   .exclusive = exclusive,
                                   .error = true,
                                   .title = {table->style->utf8 ? '\xc2' : '+', table->style->utf8 ? '\xb1' : '-'},
                                   .width = error_width};
    return true;
}

/* Adds columns for the parts of the effort, for rank idleness and for the cores of a program without a team, largest first, while there is room. */
static void add_other_columns(struct table *table)
{
    enum metric others[METRIC_ALL_PARTS + 1];
    const struct rows *rows = table->rows;
    size_t count = METRIC_ALL_PARTS + rows_show_cores(rows);
    for (size_t i = 0; i < count; i++) {
        size_t place = i;
        enum metric metric = i < METRIC_ALL_PARTS ? metric_parts[i] : METRIC_CORE_IDLENESS;
        double value = metric_value(rows, rows_whole(rows), metric);
        for (; place && metric_value(rows, rows_whole(rows), others[place - 1]) < value; place--)
            others[place] = others[place - 1];
        others[place] = metric;
    }
    for (size_t i = 0; i < count; i++)
        if (others[i] != table->style->metric && metric_is_shown(rows, others[i]) &&
            !add_column(table, others[i], table->style->by_exclusive, false, metric_title(others[i])))
            return;
}

static void choose_columns(struct table *table)
{
    const struct view_style *style = table->style;
    double effort = metric_value(table->rows, rows_whole(table->rows), METRIC_EFFORT);
    table->decimals = effort < 10 ? 3 : effort < 1000 ? 2 : effort < 1e5 ? 1 : 0;
    double ranks = metric_value(table->rows, rows_whole(table->rows), METRIC_RANK_IDLENESS);
    /* no number in the table is larger than these two */
    table->number_columns = strlen(DECIMAL(fmax(effort, ranks), table->decimals)) + 1;
    if (table->number_columns < 8)
        table->number_columns = 8;
    table->tree_columns = style->columns - 2;
    for (size_t i = 0; style->numbers && i < style->numbers->count; i++) {
        const struct view_column *column = &style->numbers->column[i];
        char *name = column_title(table, column->metric);
        char *title = memory_text("%s (%s)%s", name, column->exclusive ? "E" : "I", column->percent ? " %" : "");
        add_column(table, column->metric, column->exclusive, column->percent, title);
        free(title);
        free(name);
    }
    if (style->numbers)
        return;
    char *name = column_title(table, style->metric);
    add_column(table, style->metric, style->by_exclusive, false, name);
    free(name);
    add_column(table, style->metric, style->by_exclusive, true, style->relative ? "rel.%" : "%");
    add_column(table, style->metric, !style->by_exclusive, false, style->by_exclusive ? "incl." : "itself");
    table->sure_columns = table->column_count;
    add_other_columns(table);
}

static bool shows_counter(const struct table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (table->column[i].metric >= METRIC_COUNTER)
            return true;
    return false;
}

/* Prints what the numbers of the table mean. */
static void print_tree_meaning(const struct table *table)
{
    const struct view_style *style = table->style;
    char text[800];
    double effort = metric_value(table->rows, rows_whole(table->rows), METRIC_EFFORT);
    char parts[120] = "";
    for (size_t i = 0; i < METRIC_PARTS; i++)
        if (metric_is_shown(table->rows, metric_parts[i]))
            snprintf(parts + strlen(parts), sizeof parts - strlen(parts), "%s%s%s", i ? " + " : "",
                     table->rows->shared && metric_parts[i] == METRIC_IDLENESS ? "shared " : "",
                     metric_title(metric_parts[i]));
    char *name = column_title(table, style->metric);
    bool counts = style->metric == METRIC_SAMPLES || style->metric >= METRIC_COUNTER;
    if (style->metric == METRIC_SAMPLES)
        snprintf(text, sizeof text, "Percentages are of all samples. ");
    else if (counts)
        snprintf(text, sizeof text,
                 "Events as counted at samples, and percentages of the %.40s %s of all contexts. Other metrics are "
                 "seconds. ",
                 DECIMAL(rows_whole_value(table->rows, style->metric), 0), name);
    else if (style->relative)
        snprintf(text, sizeof text, "Seconds, and percentages of each row's own effort (%s). ", parts);
    else
        snprintf(text, sizeof text, "Seconds, and percentages of the effort, which is %.40s s of thread time (%s). ",
                 DECIMAL(effort, 2), parts);
    double nobody_s = counts || style->relative ? 0 : ledger_nobody_s(table->profile, effort);
    if (nobody_s > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "In addition, there were %.40s s of thread time in "
                 "which no thread was busy. ",
                 DECIMAL(nobody_s, 2));
    if (style->metric < METRIC_COUNTER && shows_counter(table))
        strcat(text, "Counters were read at samples. ");
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s. Sorted by %s",
             table->rows->callers ? "Functions by their own cost, followed by their callers with the lines of the calls"
             : style->by_exclusive ? "Code by its own cost, followed by its source lines"
                                   : "Rows include what they call; \"88: f\" is f, called on line 88 of the row above",
             name);
    free(name);
    length = strlen(text);
    if (style->least_percent > 0)
        snprintf(text + length, sizeof text - length, ", cut below %.12s %% of it.", DECIMAL(style->least_percent, 1));
    else
        snprintf(text + length, sizeof text - length, ".");
    if (style->errors)
        strcat(text, " Beside each number is its sampling error (95 %).");
    format_paragraph(table->out, text, style->columns);
}

static void print_titles(const struct table *table)
{
    fprintf(table->out, "\n%s", format_strong(table->style->colour));
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(table->out, "%*s",
                (int)(table->column[i].width + strlen(table->column[i].title) - format_columns(table->column[i].title)),
                table->column[i].title);
    fprintf(table->out, "%s\n", format_plain(table->style->colour));
}

static void print_tree_number(const struct table *table, const struct row *row, const struct number_column *column)
{
    const struct rows *rows = table->rows;
    const struct view_style *style = table->style;
    char number[FORMAT_NUMBER_BYTES] = "";
    int decimals = table->decimals;
    double value, share = row_absolute(rows, row, column->exclusive, column->metric);
    bool exclusive = column->exclusive && !(row->kind == ROW_ROOT && style->by_exclusive);
    if (column->percent) {
        value = style->relative ? row_relative(rows, row, exclusive, column->metric)
                                : row_absolute(rows, row, exclusive, column->metric);
        decimals = 1;
    } else {
        value = row_value(rows, row, exclusive, column->metric);
        if (column->metric == METRIC_SAMPLES || column->metric >= METRIC_COUNTER)
            decimals = 0;
    }
    bool any = value != 0;
    if (column->error)
        value = metric_error(rows, exclusive ? row->exclusive : row->inclusive, column->metric);
    if (any && !(column->exclusive && !style->by_exclusive && row->kind == ROW_ROOT))
        format_decimal(number, value, decimals);
    const char *heat = column->hot && row->kind != ROW_ROOT ? format_heat(share, style->colour) : "";
    fprintf(table->out, "%s%*s%s", heat, (int)column->width, number, *heat ? format_plain(true) : "");
}

/* Prints the branches of the tree before a row's label, and returns their width in columns. */
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

static void print_row_source(const struct table *table, const struct row *row, size_t columns)
{
    const char *text = table->style->sources && row->kind == ROW_STATEMENT
                           ? source_text_line(table->style->sources, row->label->file, row->label->line)
                           : NULL;
    if (!text || columns < LEAST_SOURCE)
        return;
    char *fitting = format_fit_head(text, columns - 2, table->style->utf8);
    if (*fitting)
        fprintf(table->out, "  %s", fitting);
    free(fitting);
}

static void print_tree_row(const struct table *table, uint32_t index)
{
    const struct rows *rows = table->rows;
    const struct row *row = &rows->row[index];
    if (row->depth)
        table->last[row->depth] = table->last_child[row->parent] == index;
    for (size_t i = 0; i < table->column_count; i++)
        print_tree_number(table, row, &table->column[i]);
    fputs("  ", table->out);
    size_t taken = print_branches(table, row);
    size_t columns = table->tree_columns > taken + 8 ? table->tree_columns - taken : 8;
    char *label = row_tree_label(rows, index);
    char *fitting = format_fit(label, columns, table->style->utf8);
    fputs(fitting, table->out);
    print_row_source(table, row, columns - format_columns(fitting));
    putc('\n', table->out);
    free(label);
    free(fitting);
}

static void print_rows_left_out(const struct table *table, size_t cut, double cut_value)
{
    const struct view_style *style = table->style;
    char text[320];
    bool counts = style->metric == METRIC_SAMPLES || style->metric >= METRIC_COUNTER;
    if (cut || style->deeper)
        fputc('\n', table->out);
    if (cut) {
        char *name = column_title(table, style->metric);
        snprintf(text, sizeof text, "%zu row%s below %.12s %% of the %s left out, totalling %.40s%s; --min 0 shows all",
                 cut, cut == 1 ? "" : "s", DECIMAL(style->least_percent, 1), name,
                 DECIMAL(cut_value, counts ? 0 : table->decimals), counts ? "" : " s");
        free(name);
        format_paragraph(table->out, text, style->columns);
    }
    if (style->deeper) {
        snprintf(text, sizeof text,
                 "%zu row%s deeper than --depth not shown; the numbers of the rows above include them", style->deeper,
                 style->deeper == 1 ? "" : "s");
        format_paragraph(table->out, text, style->columns);
    }
}

/* Chooses the rows that are shown, and finds each row's last visible child. */
static void choose_visible_rows(struct table *table)
{
    const struct rows *rows = table->rows;
    rows_mark_shares(rows, table->style->metric, table->style->by_exclusive, table->style->least_percent,
                     table->visible);
    for (uint32_t i = (uint32_t)rows->count; i-- > 1;) {
        uint32_t parent = rows->row[i].parent;
        if (table->visible[i] && !table->last_child[parent])
            table->last_child[parent] = i; /* rows are visited from the last to the first */
    }
}

static void print_visible_rows(const struct table *table)
{
    const struct rows *rows = table->rows;
    size_t cut = 0;
    double cut_value = 0;
    for (uint32_t i = 0; i < rows->count;) {
        if (table->visible[i]) {
            print_tree_row(table, i++);
            continue;
        }
        cut += rows->row[i].end - i;
        /* In a bottom-up view, callers divide the value of their parent, so only the first level is added up. */
        if (!table->style->by_exclusive || rows->row[i].depth == 1)
            cut_value += primary_value(table, &rows->row[i]);
        i = rows->row[i].end;
    }
    print_rows_left_out(table, cut, cut_value);
}

void view_text(FILE *out, const struct profile *profile, const struct rows *rows, const struct view_style *style)
{
    struct table table = {.out = out, .rows = rows, .style = style, .profile = profile};
    uint32_t deepest = 0;
    for (size_t i = 0; i < rows->count; i++)
        deepest = rows->row[i].depth > deepest ? rows->row[i].depth : deepest;
    table.visible = memory_array(rows->count, sizeof *table.visible);
    table.last_child = memory_array(rows->count, sizeof *table.last_child);
    table.last = memory_array((size_t)deepest + 1, sizeof *table.last);
    view_text_header(out, profile, style);
    choose_columns(&table);
    print_tree_meaning(&table);
    print_titles(&table);
    if (primary_value(&table, &rows->row[0]) == 0 && style->least_percent > 0) {
        char *name = column_title(&table, style->metric);
        fprintf(out, "No %s was measured%s.\n", name, style->notes && *style->notes ? " there" : "");
        free(name);
    } else {
        choose_visible_rows(&table);
        print_visible_rows(&table);
    }
    free(table.visible);
    free(table.last_child);
    free(table.last);
}
