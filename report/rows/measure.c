/* What is computed from a row's sums: docs/accounting.md derives it. */
#include "report/rows/measure.h"

const char *const measure_name[MEASURE_NAMED + 1] = {
    [MEASURE_IDLENESS] = "idleness",
    [MEASURE_WORK] = "work",
    [MEASURE_OVERHEAD] = "overhead",
    [MEASURE_LOCK_WAIT] = "lock-wait",
    [MEASURE_LOCK_WAIT_HERE] = "lock-wait-here",
    [MEASURE_CORE_IDLENESS] = "core-idleness",
    [MEASURE_SHARED_IDLENESS] = "shared-idleness",
    [MEASURE_SAMPLES] = "samples",
    [MEASURE_BLAME] = "blame",
};

const enum measure measure_blame_part[MEASURE_BLAME_PARTS] = {MEASURE_IDLENESS, MEASURE_OVERHEAD,
                                                              MEASURE_LOCK_WAIT};

#define LEAST_BLAME 1 /* per cent: a program with less has its work shown first */

static double own_ns(const struct profile_metric *metric)
{
    return metric->work + metric->overhead + metric->lock_wait;
}

/* LMF13 eq. 1 with constant t. Only what rounding can have made negative becomes 0. */
static double idleness_ns(const struct profile_metric *metric, double t)
{
    double capacity = t * metric->inverse_busy, own = own_ns(metric), idle = capacity - own;
    return idle < 0 && -idle <= 1e-9 * (capacity + own) ? 0 : idle;
}

static double value_ns(const struct rows *rows, const struct profile_metric *metric, enum measure measure)
{
    double sum = 0;
    switch (measure) {
    case MEASURE_IDLENESS:
        return rows->shared ? metric->shared_idle : idleness_ns(metric, rows->threads);
    case MEASURE_WORK:
        return metric->work;
    case MEASURE_OVERHEAD:
        return metric->overhead;
    case MEASURE_LOCK_WAIT:
        return metric->lock_wait;
    case MEASURE_LOCK_WAIT_HERE:
        return metric->lock_wait_here;
    case MEASURE_CORE_IDLENESS:
        return idleness_ns(metric, rows->cores);
    case MEASURE_SHARED_IDLENESS:
        return metric->shared_idle;
    case MEASURE_THREAD_IDLENESS:
        return idleness_ns(metric, rows->threads);
    case MEASURE_BLAME:
        for (size_t i = 0; i < MEASURE_BLAME_PARTS; i++)
            sum += value_ns(rows, metric, measure_blame_part[i]);
        return sum;
    case MEASURE_EFFORT:
        return own_ns(metric) + value_ns(rows, metric, MEASURE_IDLENESS);
    case MEASURE_SAMPLES:
        break;
    }
    return (double)metric->samples;
}

double measure_value(const struct rows *rows, const struct profile_metric *metric, enum measure measure)
{
    double value = value_ns(rows, metric, measure);
    return measure == MEASURE_SAMPLES ? value : value * 1e-9;
}

static double percent(double part, double whole)
{
    if (!(whole > 0) || !(part > 0))
        return 0;
    return part < whole ? 100 * part / whole : 100;
}

static double effort_with(const struct rows *rows, const struct profile_metric *metric, enum measure measure)
{
    if (measure == MEASURE_SAMPLES)
        return (double)metric->samples;
    if (measure != MEASURE_CORE_IDLENESS && measure != MEASURE_SHARED_IDLENESS &&
        measure != MEASURE_THREAD_IDLENESS)
        measure = MEASURE_IDLENESS;
    return own_ns(metric) + value_ns(rows, metric, measure);
}

double measure_absolute(const struct rows *rows, const struct profile_metric *metric, enum measure measure)
{
    return percent(value_ns(rows, metric, measure), effort_with(rows, rows_whole(rows), measure));
}

enum measure measure_default(const struct rows *rows)
{
    return measure_absolute(rows, rows_whole(rows), MEASURE_BLAME) >= LEAST_BLAME ? MEASURE_BLAME
                                                                                  : MEASURE_WORK;
}

double measure_relative(const struct rows *rows, const struct profile_metric *metric, enum measure measure)
{
    return percent(value_ns(rows, metric, measure), effort_with(rows, metric, measure));
}
