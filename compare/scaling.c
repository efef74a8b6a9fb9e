#include "compare/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/statistics.h"
#include "report/rows/metric.h"
#include "report/text/memory.h"

#define TOLD 0.01 /* of all effort: a row costs something from here on */

static int compare_points(const void *left, const void *right)
{
    const struct scaling_point *a = left, *b = right;
    return (a->p > b->p) - (a->p < b->p);
}

static void find_points(struct scaling *scaling, size_t runs)
{
    scaling->point = memory_array(runs, sizeof *scaling->point);
    for (size_t run = 0; run < runs; run++) {
        size_t at = 0;
        while (at < scaling->count && scaling->point[at].p != scaling->p[run])
            at++;
        scaling->point[at].p = scaling->p[run];
        scaling->point[at].runs++;
        scaling->count += at == scaling->count;
    }
    qsort(scaling->point, scaling->count, sizeof *scaling->point, compare_points);
}

static double effort_of_run(const struct scaling *scaling, size_t run, uint32_t context, enum metric metric, bool inclusive)
{
    double sum = 0;
    for (size_t part = 0; part < METRIC_PARTS; part++)
        if (metric == METRIC_NAMED || metric_parts[part] == metric)
            sum += comparison_value(scaling->comparison, run, context, metric_parts[part], inclusive);
    return sum;
}

/* Of the point's runs. */
static double median_at(const struct scaling *scaling, size_t point, uint32_t context, enum metric metric, bool inclusive, bool wall)
{
    double value[scaling->point[point].runs];
    size_t count = 0;
    for (size_t run = 0; run < scaling->comparison->run_count; run++)
        if (scaling->p[run] == scaling->point[point].p)
            value[count++] = wall ? scaling->comparison->run[run].wall_s : effort_of_run(scaling, run, context, metric, inclusive);
    return statistics_median(value, count);
}

double scaling_effort(const struct scaling *scaling, uint32_t context, size_t point, enum metric metric)
{
    return median_at(scaling, point, context, metric, false, false);
}

double scaling_inclusive(const struct scaling *scaling, uint32_t context, size_t point, enum metric metric)
{
    return median_at(scaling, point, context, metric, true, false);
}

static double grown(const struct scaling *scaling, size_t point)
{
    return scaling->weak ? scaling->point[point].p / scaling->point[0].p : 1;
}

static void measure_points(struct scaling *scaling)
{
    for (size_t i = 0; i < scaling->count; i++) {
        struct scaling_point *point = &scaling->point[i];
        const struct scaling_point *first = &scaling->point[0];
        point->wall_s = median_at(scaling, i, 0, METRIC_NAMED, true, true);
        point->effort_s = median_at(scaling, i, 0, METRIC_NAMED, true, false);
        point->ideal_s = first->effort_s * grown(scaling, i);
        double more = point->p / first->p;
        point->speed_up = point->wall_s > 0 ? first->wall_s / point->wall_s * grown(scaling, i) : 0;
        point->efficiency = point->speed_up / more;
    }
}

struct scaling *scaling_new(const struct comparison *comparison, const double *p, bool weak)
{
    struct scaling *scaling = memory_array(1, sizeof *scaling);
    scaling->comparison = comparison;
    scaling->weak = weak;
    scaling->p = memory_array(comparison->run_count, sizeof *scaling->p);
    memcpy(scaling->p, p, comparison->run_count * sizeof *p);
    find_points(scaling, comparison->run_count);
    measure_points(scaling);
    scaling->modelled = scaling_design_begin(&scaling->design, p, comparison->run_count);
    return scaling;
}

void scaling_free(struct scaling *scaling)
{
    if (!scaling)
        return;
    scaling_design_end(&scaling->design);
    free(scaling->point);
    free(scaling->p);
    free(scaling);
}

static struct scaling_fit fit_of(const struct scaling *scaling, uint32_t context, bool inclusive)
{
    double value[scaling->comparison->run_count];
    if (!scaling->modelled)
        return (struct scaling_fit){0};
    for (size_t run = 0; run < scaling->comparison->run_count; run++)
        value[run] = effort_of_run(scaling, run, context, METRIC_NAMED, inclusive);
    return scaling_fit_of(&scaling->design, value, 2 * scaling->point[scaling->count - 1].p);
}

struct scaling_fit scaling_whole_fit(const struct scaling *scaling)
{
    return fit_of(scaling, 0, true);
}

static double more_at(const struct scaling *scaling, uint32_t context, size_t point, enum metric metric)
{
    return scaling_effort(scaling, context, point, metric) - grown(scaling, point) * scaling_effort(scaling, context, 0, metric);
}

/* Three standard errors of sampling; with several runs a point, what they scatter, too, is in the medians. */
static double unsure(const struct scaling *scaling, uint32_t context, size_t point)
{
    double variance = 0;
    for (size_t run = 0; run < scaling->comparison->run_count; run++) {
        bool first = scaling->p[run] == scaling->point[0].p;
        if (!first && scaling->p[run] != scaling->point[point].p)
            continue;
        double runs = (double)scaling->point[first ? 0 : point].runs, factor = first ? grown(scaling, point) : 1;
        struct error_basis basis = comparison_basis(scaling->comparison, run, context, false);
        for (size_t part = 0; part < METRIC_PARTS; part++)
            variance += factor * factor / (runs * runs) *
                        comparison_variance(scaling->comparison, run, metric_parts[part],
                                            comparison_value(scaling->comparison, run, context, metric_parts[part], false), basis);
    }
    return 3 * sqrt(variance);
}

static void find_cause(const struct scaling *scaling, struct scaling_row *row, double more)
{
    double most = 0;
    for (size_t part = 0; part < METRIC_PARTS; part++) {
        double of_part = more_at(scaling, row->context, scaling->count - 1, metric_parts[part]);
        if (of_part > most) {
            most = of_part;
            row->metric = metric_parts[part];
            row->metric_part = more > 0 ? of_part / more : 0;
        }
    }
}

static struct scaling_row row_of(const struct scaling *scaling, uint32_t context)
{
    size_t last = scaling->count - 1;
    double more = more_at(scaling, context, last, METRIC_NAMED), whole = scaling->point[last].effort_s;
    struct scaling_row row = {.context = context, .lost = whole > 0 ? more / whole : 0, .metric = METRIC_WORK};
    for (size_t point = last; point > 0; point--) {
        double here = more_at(scaling, context, point, METRIC_NAMED);
        if (here < TOLD * scaling->point[point].effort_s || here < unsure(scaling, context, point))
            break;
        row.first_p = scaling->point[point].p;
    }
    find_cause(scaling, &row, more);
    row.fit = fit_of(scaling, context, false);
    return row;
}

static int compare_rows(const void *left, const void *right)
{
    const struct scaling_row *a = left, *b = right;
    if (a->lost != b->lost)
        return a->lost > b->lost ? -1 : 1;
    return a->context < b->context ? -1 : a->context > b->context;
}

struct scaling_row *scaling_rows(const struct scaling *scaling, size_t *count)
{
    const struct comparison *comparison = scaling->comparison;
    struct scaling_row *rows = memory_array(comparison->count, sizeof *rows);
    *count = 0;
    for (uint32_t context = 0; context < comparison->count; context++) {
        double most = 0;
        for (size_t point = 0; point < scaling->count; point++)
            most = fmax(most, fabs(scaling_effort(scaling, context, point, METRIC_NAMED)));
        if (most > 0 && comparison->context[context].kind != ROW_STATEMENT)
            rows[(*count)++] = row_of(scaling, context);
    }
    qsort(rows, *count, sizeof *rows, compare_rows);
    return rows;
}
