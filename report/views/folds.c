#include "report/views/folds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/label.h"
#include "report/rows/row.h"
#include "report/text/format.h"
#include "report/text/memory.h"

#define LEAST_BLOCKS  30u
#define NUMBER_COLUMNS 20u
#define LEAST_LABEL   18u
#define ROWS_SHOWN    12u
#define LEAST_SHARE   0.005 /* of the phase's */

struct folds_view {
    FILE *out;
    const struct fold_table *table;
    const struct view_style *style;
    size_t blocks;  /* that a line has; PROFILE_TIME_BINS is a multiple of it */
    size_t labels;  /* columns of what stands in front of them */
    double unit;    /* times are of an instance, in seconds x unit */
    const char *unit_name;
};

/* One of eight heights, or blank. */
static void put_block(const struct folds_view *to, double part)
{
    static const char *const blocks[] = {" ", "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
                                         "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88"};
    static const char letters[] = " .:-=+*%#";
    long height = part > 0 ? lround(8 * part) : 0;
    height = height > 8 ? 8 : height;
    if (to->style->utf8)
        fputs(blocks[height], to->out);
    else
        putc(letters[height], to->out);
}

/* Threads, on average over the instances, in one of the line's blocks. */
static double threads_in(const struct folds_view *to, const fold_bins bins, size_t block, enum metric metric)
{
    const struct fold_table *table = to->table;
    size_t each = PROFILE_TIME_BINS / to->blocks;
    double length_s = table->instances * table->mean_s / (double)to->blocks;
    double sum = fold_sum(table, bins, block * each, (block + 1) * each, metric);
    return length_s > 0 ? sum / length_s : 0;
}

static void put_line(const struct folds_view *to, const char *label, const fold_bins bins, enum metric metric, double highest)
{
    const struct fold_table *table = to->table;
    double sum = fold_sum(table, bins, 0, PROFILE_TIME_BINS, metric);
    double error = fold_error(table, 0, PROFILE_TIME_BINS, metric, sum), each = to->unit / table->instances;
    char *fitting = format_fit(label, to->labels, to->style->utf8);
    fprintf(to->out, "%s%*s ", fitting, (int)(to->labels - format_columns(fitting)), "");
    for (size_t block = 0; block < to->blocks; block++)
        put_block(to, highest > 0 ? threads_in(to, bins, block, metric) / highest : 0);
    fprintf(to->out, " %8s %s %-6s\n", DECIMAL(sum * each, 3), to->style->utf8 ? "\xc2\xb1" : "+-", DECIMAL(error * each, 3));
    free(fitting);
}

struct ranked {
    uint32_t row;
    double sum;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->sum != b->sum)
        return a->sum > b->sum ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* The functions with most of a metric, highest first; returns how many. */
static size_t rank(const struct fold_table *table, enum metric metric, struct ranked *ranked)
{
    size_t count = 0;
    double all = fold_sum(table, table->all, 0, PROFILE_TIME_BINS, metric);
    for (uint32_t row = 0; row < table->rows->count; row++) {
        double sum = fold_sum(table, table->bins[row], 0, PROFILE_TIME_BINS, metric);
        if (sum > 0 && sum >= LEAST_SHARE * all)
            ranked[count++] = (struct ranked){row, sum};
    }
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    return count;
}

static void put_functions(const struct folds_view *to, const char *title, enum metric metric)
{
    const struct fold_table *table = to->table;
    struct ranked *ranked = memory_array(table->rows->count, sizeof *ranked);
    size_t count = rank(table, metric, ranked), shown = count < ROWS_SHOWN ? count : ROWS_SHOWN;
    double highest = 0;
    for (size_t i = 0; i < shown; i++)
        for (size_t block = 0; block < to->blocks; block++)
            highest = fmax(highest, threads_in(to, table->bins[ranked[i].row], block, metric));
    if (count)
        fprintf(to->out, "\n%s (a full block: %s threads)\n", title, DECIMAL(highest, 2));
    for (size_t i = 0; i < shown; i++) {
        uint32_t row = ranked[i].row;
        char *label = row ? view_context_label(table->rows, row, METRIC_WORK, to->labels, to->style->utf8) : memory_text("%s", table->name);
        put_line(to, label, table->bins[row], metric, highest);
        free(label);
    }
    if (count > shown)
        fprintf(to->out, "and %zu more with at least %s %% of it\n", count - shown, DECIMAL(100 * LEAST_SHARE, 1));
    free(ranked);
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
        fprintf(out, " %s: %llu %s, last by %s to %s %s.", outliers ? "Usual" : "Apart, as outliers",
                (unsigned long long)counts->instances[!outliers], outliers ? "instances" : "that took longer or shorter than usual",
                DECIMAL((double)counts->low_ns * 1e-9 * to->unit, 3), DECIMAL((double)counts->high_ns * 1e-9 * to->unit, 3), unit);
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

void view_text_folds(FILE *out, const struct profile *profile, const struct fold_table *table, const struct view_style *style)
{
    struct folds_view view = {.out = out, .table = table, .style = style};
    double threads = table->rows->threads;
    view_text_header(out, profile, style);
    choose_widths(&view);
    putc('\n', out);
    put_counts(&view);
    if (table->instances < 1)
        return;
    fprintf(out, "\n%-*s %-*s%4s   %s an instance\n", (int)view.labels, "threads", (int)view.blocks - 3, "0 %", "100 %", view.unit_name);
    put_line(&view, "at work", table->all, METRIC_WORK, threads);
    put_line(&view, "idle, by blame", table->all, METRIC_IDLENESS, threads);
    put_line(&view, "waiting for locks", table->all, METRIC_LOCK_WAIT, threads);
    fprintf(out, "(a full block: %s threads; a block is %s %s)\n", DECIMAL(threads, 0), DECIMAL(table->mean_s * view.unit / (double)view.blocks, 3),
            view.unit_name);
    put_functions(&view, "What runs", METRIC_WORK);
    put_functions(&view, "What others idle for", METRIC_IDLENESS);
    put_functions(&view, "What others wait for locks for", METRIC_LOCK_WAIT);
}
