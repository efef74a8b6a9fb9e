#include "report/views/folds.h"

#include <math.h>
#include <stdlib.h>

#include "report/rows/label.h"
#include "report/rows/row.h"
#include "report/text/format.h"
#include "report/text/memory.h"
#include "report/views/time_axis.h"

#define LEAST_BLOCKS  30u
#define NUMBER_COLUMNS 20u
#define LEAST_LABEL    24u
#define LEAST_SHARE    0.02 /* of the phase's */
#define NEARLY_ALL     0.98
#define MOST_LEVELS    1000u /* deeper ones are of no program, but of a file that was made to end this one */

struct folds_view {
    FILE *out;
    const struct fold_table *table;
    const struct view_style *style;
    size_t blocks;  /* that a line has; PROFILE_TIME_BINS is a multiple of it */
    uint32_t depth; /* of rows that are shown */
    size_t labels;  /* columns of what stands in front of them */
    double unit;    /* times are of an instance, in seconds x unit */
    const char *unit_name;
};

/* Threads, on average over the instances, in one of the line's blocks. */
static double threads_in(const struct folds_view *to, const fold_bins bins, size_t block, enum metric metric)
{
    const struct fold_table *table = to->table;
    size_t each = PROFILE_TIME_BINS / to->blocks;
    double length_s = table->instances * table->mean_s / (double)to->blocks;
    double sum = fold_sum(table, bins, block * each, (block + 1) * each, metric);
    return length_s >= 1e-9 ? sum / length_s : 0; /* a damaged file's may be next to nothing */
}

static void put_line(const struct folds_view *to, const char *label, const fold_bins bins, enum metric metric, double highest)
{
    const struct fold_table *table = to->table;
    double sum = fold_sum(table, bins, 0, PROFILE_TIME_BINS, metric);
    double error = fold_error(table, 0, PROFILE_TIME_BINS, metric, sum), each = to->unit / table->instances;
    char *fitting = format_fit(label, to->labels, to->style->utf8);
    fprintf(to->out, "%s%*s ", fitting, (int)(to->labels - format_columns(fitting)), "");
    for (size_t block = 0; block < to->blocks; block++)
        fputs(time_axis_level(threads_in(to, bins, block, metric), highest, to->style->utf8), to->out);
    fprintf(to->out, " %8s %s %-6s\n", DECIMAL(sum * each, 3), to->style->utf8 ? "\xc2\xb1" : "+-",
            error * each < 0.0005 ? "<0.001" : DECIMAL(error * each, 3));
    free(fitting);
}

/* A row below another, and when it runs on average. */
struct child {
    uint32_t row, level; /* below the phase */
    double sum, when;
};

static int compare_children(const void *left, const void *right)
{
    const struct child *a = left, *b = right;
    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static struct child child_of(const struct fold_table *table, uint32_t row, enum metric metric)
{
    struct child child = {.row = row};
    for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++) {
        double value = fmax(0, fold_value(table, &table->inclusive[row][bin], metric));
        child.sum += value;
        child.when += value * (double)bin;
    }
    child.when /= child.sum > 0 ? child.sum : 1;
    return child;
}

/* What a row calls, in the order of time, without those that are too small to be shown; malloc'ed. */
static struct child *children_of(const struct folds_view *to, const struct child *above, enum metric metric, size_t *count)
{
    const struct fold_table *table = to->table;
    const struct row *rows = table->rows->row;
    double least = LEAST_SHARE * child_of(table, 0, metric).sum;
    struct child *children = NULL;
    size_t room = 0;
    *count = 0;
    for (uint32_t i = above->row + 1; i < rows[above->row].end; i = rows[i].end) {
        struct child child = child_of(table, i, metric);
        child.level = above->level + 1;
        if (rows[i].kind == ROW_STATEMENT || !(child.sum > 0) || child.sum < least)
            continue;
        memory_grow(&children, &room, *count, sizeof *children);
        children[(*count)++] = child;
    }
    if (*count)
        qsort(children, *count, sizeof *children, compare_children);
    return children;
}

/* Of the rows that are shown below the one, the highest block; with `highest` they are printed. A row that does nearly all of its caller's is not: it says
 * the same once more. */
static double put_below(const struct folds_view *to, struct child above, uint32_t depth, enum metric metric, double highest)
{
    const struct fold_table *table = to->table;
    size_t count;
    struct child *children = children_of(to, &above, metric, &count);
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t child = children[i].row;
        bool same = above.row && children[i].sum > NEARLY_ALL * above.sum;
        for (size_t block = 0; block < to->blocks && !same; block++)
            most = fmax(most, threads_in(to, table->inclusive[child], block, metric));
        char *name = view_row_label(table->rows, child), *label = memory_text("%*s%s", 2 * (int)depth, "", name);
        if (highest > 0 && !same)
            put_line(to, label, table->inclusive[child], metric, highest);
        free(name);
        free(label);
        if (depth < to->depth && children[i].level < MOST_LEVELS)
            most = fmax(most, put_below(to, children[i], depth + !same, metric, highest));
    }
    free(children);
    return most;
}

static void put_functions(const struct folds_view *to, const char *title, enum metric metric)
{
    double highest = put_below(to, child_of(to->table, 0, metric), 0, metric, 0);
    if (!(highest > 0))
        return;
    fprintf(to->out, "\n%s (a full block: %s threads)\n", title, DECIMAL(highest, 2));
    put_below(to, child_of(to->table, 0, metric), 0, metric, highest);
}

static void put_counts(const struct folds_view *to)
{
    const struct profile_fold *counts = &to->table->fold->counts;
    bool outliers = to->table->fold->outliers;
    const char *unit = to->unit_name;
    FILE *out;
    char *text;
    out = memory_stream(&text);
    fprintf(out, "%s%s: %llu instances, %s %s each on average, laid over one another by their %llu samples.", to->table->name,
            outliers ? ", outliers" : "", (unsigned long long)counts->instances[outliers], DECIMAL(to->table->mean_s * to->unit, 3), unit,
            (unsigned long long)counts->samples[outliers]);
    if (counts->instances[1] && counts->high_ns)
        fprintf(out, outliers ? " Usual: %llu of %s to %s %s." : " Apart, as outliers: %llu that did not take %s to %s %s.",
                (unsigned long long)counts->instances[!outliers], DECIMAL((double)counts->low_ns * 1e-9 * to->unit, 3),
                DECIMAL((double)counts->high_ns * 1e-9 * to->unit, 3), unit);
    if (counts->left_out)
        fprintf(out, " Left out: %llu with a pause in them or without an end.", (unsigned long long)counts->left_out);
    if (counts->thinned)
        fprintf(out, " %llu samples stand for others, too: instances had more than fit.", (unsigned long long)counts->thinned);
    if (counts->overtaken + counts->cut + counts->no_room)
        fprintf(out, " Samples lost: %llu whose instance's end was forgotten or did not come, %llu of what is left out, %llu without room.",
                (unsigned long long)counts->overtaken, (unsigned long long)counts->cut, (unsigned long long)counts->no_room);
    memory_stream_close(out);
    char *clean = format_clean(text, true);
    format_paragraph(to->out, clean, to->style->columns);
    free(clean);
    free(text);
}

static void choose_widths(struct folds_view *to)
{
    static const size_t wide[] = {120, 60, 40, LEAST_BLOCKS};
    size_t columns = to->style->columns, i = 0;
    while (wide[i] > LEAST_BLOCKS && wide[i] + NUMBER_COLUMNS + LEAST_LABEL > columns)
        i++;
    to->blocks = wide[i];
    size_t left = columns > to->blocks + NUMBER_COLUMNS ? columns - to->blocks - NUMBER_COLUMNS : 0;
    to->labels = left < 12 ? 12 : left > 44 ? 44 : left;
    double mean_s = to->table->mean_s;
    to->unit = mean_s >= 1 ? 1 : mean_s >= 1e-3 ? 1e3 : 1e6;
    to->unit_name = mean_s >= 1 ? "s" : mean_s >= 1e-3 ? "ms" : "us";
}

void view_text_folds(FILE *out, const struct profile *profile, const struct fold_table *table, uint32_t depth, const struct view_style *style)
{
    struct folds_view view = {.out = out, .table = table, .style = style, .depth = depth};
    double threads = table->rows->threads;
    view_text_header(out, profile, style);
    choose_widths(&view);
    putc('\n', out);
    put_counts(&view);
    if (table->instances < 1)
        return;
    fprintf(out, "\n%-*s %-*s%4s   %s an instance\n", (int)view.labels, "threads", (int)view.blocks - 3, "0 %", "100 %", view.unit_name);
    put_line(&view, "at work", table->busy, METRIC_WORK, threads);
    if (fold_sum(table, table->no_core, 0, PROFILE_TIME_BINS, METRIC_WORK) > 0)
        put_line(&view, "without a core", table->no_core, METRIC_WORK, threads);
    put_line(&view, "idle, by blame", table->inclusive[0], METRIC_IDLENESS, threads);
    put_line(&view, "waiting for locks", table->inclusive[0], METRIC_LOCK_WAIT, threads);
    fprintf(out, "(a full block: %s threads; a block is %s %s)\n", DECIMAL(threads, 0), DECIMAL(table->mean_s * view.unit / (double)view.blocks, 3),
            view.unit_name);
    put_functions(&view, "What runs", METRIC_WORK);
    put_functions(&view, "What others idle for", METRIC_IDLENESS);
    put_functions(&view, "What others wait for locks for", METRIC_LOCK_WAIT);
}
