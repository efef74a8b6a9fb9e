/* What is computed from a row's sums: docs/accounting.md derives it. */
#include "report/rows/metric.h"

const char *const metric_word[METRIC_NAMED + 1] = {
#define METRIC(name, word, title, unit, about) word,
    METRIC_TABLE(METRIC)
#undef METRIC
};

const char *const metric_unit[METRIC_NAMED] = {
#define METRIC(name, word, title, unit, about) unit,
    METRIC_TABLE(METRIC)
#undef METRIC
};

const char *metric_title(enum metric metric)
{
    static const char *const titles[METRIC_NAMED] = {
#define METRIC(name, word, title, unit, about) title,
        METRIC_TABLE(METRIC)
#undef METRIC
    };
    return metric < METRIC_NAMED ? titles[metric] : "effort";
}

const char *metric_about(enum metric metric)
{
    static const char *const abouts[METRIC_NAMED] = {
#define METRIC(name, word, title, unit, about) about,
        METRIC_TABLE(METRIC)
#undef METRIC
    };
    return metric < METRIC_NAMED ? abouts[metric]
                                 : "All time of all threads: work, idleness, overhead, lock wait, no core, blocked, mpi wait";
}

const enum metric metric_columns[METRIC_COLUMNS] = {
    METRIC_SAMPLES,   METRIC_WORK,          METRIC_IDLENESS,        METRIC_OVERHEAD,
    METRIC_LOCK_WAIT, METRIC_CORE_IDLENESS, METRIC_SHARED_IDLENESS, METRIC_LOCK_WAIT_HERE,
    METRIC_NO_CORE,   METRIC_BLOCKED,       METRIC_MPI_WAIT,        METRIC_RANK_IDLENESS,
};

const enum metric metric_parts[METRIC_TOLD] = {METRIC_WORK,      METRIC_IDLENESS, METRIC_OVERHEAD,
                                               METRIC_LOCK_WAIT, METRIC_NO_CORE,  METRIC_BLOCKED,
                                               METRIC_MPI_WAIT,  METRIC_RANK_IDLENESS};

const enum metric metric_blame_part[METRIC_BLAME_PARTS] = {METRIC_IDLENESS, METRIC_OVERHEAD,
                                                           METRIC_LOCK_WAIT};

#define LEAST_BLAME 1 /* per cent: a program with less has its work shown first */

/* LMF13 eq. 1 with constant t. Only what rounding can have made negative becomes 0. */
static double idleness_ns(const struct profile_sums *sums, double t)
{
    double capacity = t * sums->inverse_busy, own = profile_sums_own(sums), idle = capacity - own;
    return idle < 0 && -idle <= 1e-9 * (capacity + own) ? 0 : idle;
}

static double value_ns(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    double sum = 0;
    switch (metric) {
    case METRIC_IDLENESS:
        return rows->shared ? sums->shared_idle : idleness_ns(sums, rows->threads);
    case METRIC_WORK:
        return sums->work;
    case METRIC_OVERHEAD:
        return sums->overhead;
    case METRIC_LOCK_WAIT:
        return sums->lock_wait;
    case METRIC_LOCK_WAIT_HERE:
        return sums->lock_wait_here;
    case METRIC_CORE_IDLENESS:
        return idleness_ns(sums, rows->cores);
    case METRIC_SHARED_IDLENESS:
        return sums->shared_idle;
    case METRIC_THREAD_IDLENESS:
        return idleness_ns(sums, rows->threads);
    case METRIC_NO_CORE:
        return sums->no_core;
    case METRIC_BLOCKED:
        return sums->blocked;
    case METRIC_MPI_WAIT:
        return sums->mpi_wait;
    case METRIC_RANK_IDLENESS:
        return sums->rank_idle;
    case METRIC_BLAME:
        for (size_t i = 0; i < METRIC_BLAME_PARTS; i++)
            sum += value_ns(rows, sums, metric_blame_part[i]);
        return sum;
    case METRIC_EFFORT:
    case METRIC_ORDER:
        for (size_t i = 0; i < (metric == METRIC_EFFORT ? METRIC_PARTS : METRIC_ALWAYS_PARTS); i++)
            sum += value_ns(rows, sums, metric_parts[i]);
        return sum;
    case METRIC_SAMPLES:
        break;
    }
    return (double)sums->samples;
}

double metric_value(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    double value = value_ns(rows, sums, metric);
    return metric == METRIC_SAMPLES ? value : value * 1e-9;
}

static double percent(double part, double whole)
{
    if (!(whole > 0) || !(part > 0))
        return 0;
    return part < whole ? 100 * part / whole : 100;
}

static double effort_with(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    if (metric == METRIC_SAMPLES)
        return (double)sums->samples;
    double effort = value_ns(rows, sums, METRIC_EFFORT);
    if (metric == METRIC_RANK_IDLENESS)
        return effort + sums->rank_idle - sums->rank_waited;
    bool idleness = metric == METRIC_CORE_IDLENESS || metric == METRIC_SHARED_IDLENESS ||
                    metric == METRIC_THREAD_IDLENESS;
    return idleness ? effort - value_ns(rows, sums, METRIC_IDLENESS) + value_ns(rows, sums, metric) : effort;
}

double metric_absolute(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    return percent(value_ns(rows, sums, metric),
                   effort_with(rows, rows_whole(rows), rows->job && metric == METRIC_RANK_IDLENESS ? METRIC_EFFORT : metric));
}

bool metric_is_rare(enum metric metric)
{
    for (size_t i = METRIC_ALWAYS_PARTS; i < METRIC_TOLD; i++)
        if (metric_parts[i] == metric)
            return true;
    return false;
}

bool metric_is_shown(const struct rows *rows, enum metric metric)
{
    return !metric_is_rare(metric) || metric_absolute(rows, rows_whole(rows), metric) >= METRIC_LEAST_SHOWN;
}

enum metric metric_default(const struct rows *rows)
{
    return metric_absolute(rows, rows_whole(rows), METRIC_BLAME) >= LEAST_BLAME ? METRIC_BLAME : METRIC_WORK;
}

double metric_relative(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    return percent(value_ns(rows, sums, metric), effort_with(rows, sums, metric));
}

double metric_of_order(const struct rows *rows, const struct profile_sums *sums, enum metric metric,
                       const struct profile_sums *of)
{
    return percent(value_ns(rows, sums, metric), value_ns(rows, of, METRIC_ORDER));
}
