/* What happens along an average execution of a phase. */
#include <math.h>
#include <stdlib.h>

#include "html/page.h"
#include "report/text/memory.h"

#define SHOWN   7 /* contexts of a metric */
#define CALLERS 3

static const enum metric metrics[] = {METRIC_WORK, METRIC_IDLENESS, METRIC_LOCK_WAIT};

struct ranked {
    uint32_t row;
    double sum;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return a->sum != b->sum ? (a->sum < b->sum ? 1 : -1) : (a->row > b->row) - (a->row < b->row);
}

/* What a context lost for want of a core is its own. */
static uint32_t code_row(const struct rows *rows, uint32_t row)
{
    return row && row_is_no_core(&rows->row[row]) ? rows->row[row].parent : row;
}

static struct ranked *rank_rows(const struct fold_table *table, enum metric metric)
{
    const struct rows *rows = table->rows;
    struct ranked *ranked = memory_array(rows->count, sizeof *ranked);
    for (uint32_t row = 0; row < rows->count; row++)
        ranked[row].row = row;
    for (uint32_t row = 0; row < rows->count; row++)
        ranked[code_row(rows, row)].sum += fold_sum(table, table->bins[row], 0, PROFILE_TIME_BINS, metric);
    qsort(ranked, rows->count, sizeof *ranked, compare_ranked);
    return ranked;
}

/* The names of a row's callers, the nearest first. */
static void put_callers(struct page *page, const struct rows *rows, uint32_t row)
{
    fputs(",\"callers\":[", page->out);
    for (int i = 0; i < CALLERS && row && (row = rows->row[row].parent); i++)
        fprintf(page->out, "%s%u", i ? "," : "", page_string(page, rows->row[row].label->name));
    putc_unlocked(']', page->out);
}

static void put_row(struct page *page, const struct fold_table *table, uint32_t row, enum metric metric)
{
    const struct rows *rows = table->rows;
    const struct row_label *label = rows->row[row].label;
    double sum[PROFILE_TIME_BINS] = {0};
    for (uint32_t i = 0; i < rows->count; i++)
        for (size_t bin = 0; code_row(rows, i) == row && bin < PROFILE_TIME_BINS; bin++)
            sum[bin] += fold_value(table, &table->bins[i][bin], metric);
    fprintf(page->out, "{\"name\":%u,\"file\":%u,\"line\":%d", page_string(page, row ? label->name : table->name),
            page_string(page, row ? label->file : ""), row ? label->line : 0);
    put_callers(page, rows, row);
    fputs(",\"us\":[", page->out);
    for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++) {
        fputs(bin ? "," : "", page->out);
        page_micro(page->out, sum[bin]);
    }
    fputs("]}", page->out);
}

static void put_sums(struct page *page, const char *name, const struct fold_table *table, const fold_bins bins, enum metric metric, bool errors)
{
    fprintf(page->out, ",\n\"%s\":[", name);
    for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++) {
        double sum = fold_sum(table, bins, bin, bin + 1, metric);
        fputs(bin ? "," : "", page->out);
        page_micro(page->out, errors ? fold_error(table, bin, bin + 1, metric, sum) : sum);
    }
    putc_unlocked(']', page->out);
}

static void put_metric(struct page *page, const struct fold_table *table, enum metric metric)
{
    struct ranked *ranked = rank_rows(table, metric);
    fprintf(page->out, "{\"key\":\"%s\"", metric_title(metric));
    put_sums(page, "us", table, table->inclusive[0], metric, false);
    put_sums(page, "error", table, table->inclusive[0], metric, true);
    if (metric == METRIC_WORK && fold_sum(table, table->no_core, 0, PROFILE_TIME_BINS, metric) > 0)
        put_sums(page, "no_core", table, table->no_core, metric, false);
    fputs(",\n\"rows\":[", page->out);
    for (size_t i = 0; i < SHOWN && i < table->rows->count && ranked[i].sum > 0; i++) {
        fputs(i ? ",\n" : "", page->out);
        put_row(page, table, ranked[i].row, metric);
    }
    fputs("]}", page->out);
    free(ranked);
}

static void put_fold(struct page *page, const struct fold_table *table)
{
    const struct profile_fold *counts = &table->fold->counts;
    fprintf(page->out, "{\"name\":%u,\"outliers\":%s,\"executions\":%.0f,\"mean\":", page_string(page, table->name),
            table->fold->outliers ? "true" : "false", table->instances);
    page_micro(page->out, table->mean_s);
    fprintf(page->out, ",\"samples\":%llu,\"left_out\":%llu,\"metrics\":[", (unsigned long long)counts->samples[table->fold->outliers],
            (unsigned long long)counts->left_out);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        fputs(i ? ",\n" : "", page->out);
        put_metric(page, table, metrics[i]);
    }
    fputs("]}", page->out);
}

void page_put_folds(struct page *page)
{
    const struct html_input *input = page->input;
    putc_unlocked('[', page->out);
    for (size_t i = 0, put = 0; i < input->fold_count; i++)
        if (input->folds[i]->instances > 0 && input->folds[i]->mean_s > 0) {
            fputs(put++ ? ",\n" : "", page->out);
            put_fold(page, input->folds[i]);
        }
    putc_unlocked(']', page->out);
}
