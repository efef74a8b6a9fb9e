#include "report/tables/folds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/error.h"
#include "report/rows/rows.h"
#include "report/text/format.h"
#include "report/text/memory.h"

static void add_value(struct profile_time_value *to, const struct profile_time_value *from)
{
    to->own += from->own;
    to->inverse_busy += from->inverse_busy;
    to->shared_idle += from->shared_idle;
    to->lock_wait += from->lock_wait;
}

static void gather_bins(struct fold_table *table)
{
    const struct merged_fold *fold = table->fold;
    const struct rows *rows = table->rows;
    table->bins = memory_array(rows->count, sizeof *table->bins);
    table->inclusive = memory_array(rows->count, sizeof *table->inclusive);
    for (size_t node = 0; node < fold->node_count; node++) {
        uint32_t row = rows->node_row[node];
        if (row == ROW_NONE)
            continue;
        if (rows->row[row].kind == ROW_STATEMENT)
            row = rows->row[row].parent;
        for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++) {
            add_value(&table->bins[row][bin], &fold->bins[node][bin]);
            add_value(&table->inclusive[row][bin], &fold->bins[node][bin]);
        }
    }
    for (size_t row = 0; row < rows->count; row++)
        for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++)
            (row_is_no_core(&rows->row[row]) ? table->no_core : table->busy)[bin].own += table->bins[row][bin].own;
    for (size_t row = rows->count; row-- > 1;) /* parents come first */
        for (size_t bin = 0; bin < PROFILE_TIME_BINS; bin++)
            add_value(&table->inclusive[rows->row[row].parent][bin], &table->inclusive[row][bin]);
}

/* Phases of one text may have several names, of which one is folded. */
static const struct merged_fold *fold_named(const struct profile *profile, const char *name, bool outliers)
{
    for (size_t i = 0; i < profile->fold_count; i++) {
        const struct merged_fold *fold = &profile->folds[i];
        if (fold->outliers == outliers && strcmp(profile->names[fold->counts.name - 1].text, name) == 0)
            return fold;
    }
    return NULL;
}

struct fold_table *folds_gather(const struct profile *profile, struct symbols *symbols, const char *name, bool outliers)
{
    const struct merged_fold *fold = fold_named(profile, name, outliers);
    if (!fold)
        return NULL;
    struct fold_table *table = memory_array(1, sizeof *table);
    uint64_t instances = fold->counts.instances[outliers];
    table->fold = fold;
    table->name = profile->names[fold->counts.name - 1].text;
    table->instances = (double)instances;
    table->mean_s = instances ? fold->counts.duration_ns[outliers] * 1e-9 / (double)instances : 0;
    table->folded = profile_of_fold(profile, fold);
    table->rows = rows_build(&table->folded, symbols);
    gather_bins(table);
    return table;
}

void folds_table_free(struct fold_table *table)
{
    if (!table)
        return;
    rows_free(table->rows);
    free(table->bins);
    free(table->inclusive);
    free(table);
}

char *folds_names(const struct profile *profile)
{
    char *text;
    FILE *out = memory_stream(&text);
    for (size_t i = 0, count = 0; i < profile->fold_count; i++)
        if (!profile->folds[i].outliers)
            fprintf(out, "%s%s", count++ ? ", " : "", profile->names[profile->folds[i].counts.name - 1].text);
    memory_stream_close(out);
    char *names = format_clean(text, true);
    free(text);
    return names;
}

double fold_value(const struct fold_table *table, const struct profile_time_value *value, enum metric metric)
{
    const struct profile_sums sums = {.work = (double)value->own,
                                      .inverse_busy = (double)value->inverse_busy,
                                      .shared_idle = (double)value->shared_idle,
                                      .lock_wait = (double)value->lock_wait};
    return metric_value(table->rows, &sums, metric);
}

double fold_sum(const struct fold_table *table, const fold_bins bins, size_t first, size_t end, enum metric metric)
{
    double sum = 0;
    for (size_t bin = first; bin < end; bin++)
        sum += fold_value(table, &bins[bin], metric);
    return sum;
}

static double square_of(const struct profile_time_value *squares, enum metric metric)
{
    return metric == METRIC_WORK ? (double)squares->own : metric == METRIC_LOCK_WAIT ? (double)squares->lock_wait : (double)squares->shared_idle;
}

double fold_error(const struct fold_table *table, size_t first, size_t end, enum metric metric, double sum)
{
    double squares = 0, all = fold_sum(table, table->inclusive[0], first, end, metric);
    for (size_t bin = first; bin < end; bin++)
        squares += square_of(&table->fold->squares[bin], metric) * 1e-18;
    double few = error_form_of(&table->rows->error, metric).few; /* as of all values: samples that chance kept away */
    return ERROR_DEVIATIONS * sqrt(few + (all > 0 && sum > 0 ? squares * fmin(sum / all, 1) : 0));
}
