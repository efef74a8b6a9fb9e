/* What is computed from a row's sums: docs/accounting.md derives it. */
#include "command/rows/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/format.h"
#include "command/text/memory.h"

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
    return metric < METRIC_NAMED
               ? abouts[metric]
               : "All time of all threads: work, idleness, overhead, lock wait, no core, blocked, mpi wait";
}

const enum metric metric_columns[METRIC_COLUMNS] = {
    METRIC_SAMPLES,   METRIC_WORK,          METRIC_IDLENESS,        METRIC_OVERHEAD,
    METRIC_LOCK_WAIT, METRIC_CORE_IDLENESS, METRIC_SHARED_IDLENESS, METRIC_LOCK_WAIT_HERE,
    METRIC_NO_CORE,   METRIC_BLOCKED,       METRIC_MPI_WAIT,        METRIC_RANK_IDLENESS,
};

const enum metric metric_parts[METRIC_TOLD] = {METRIC_WORK,    METRIC_IDLENESS, METRIC_OVERHEAD, METRIC_LOCK_WAIT,
                                               METRIC_NO_CORE, METRIC_BLOCKED,  METRIC_MPI_WAIT, METRIC_RANK_IDLENESS};

const enum metric metric_blame_part[METRIC_BLAME_PARTS] = {METRIC_IDLENESS, METRIC_OVERHEAD, METRIC_LOCK_WAIT};

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
    case METRIC_COUNTER: /* rows have them, sums do not */
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
    bool idleness =
        metric == METRIC_CORE_IDLENESS || metric == METRIC_SHARED_IDLENESS || metric == METRIC_THREAD_IDLENESS;
    return idleness ? effort - value_ns(rows, sums, METRIC_IDLENESS) + value_ns(rows, sums, metric) : effort;
}

double metric_absolute(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    return percent(
        value_ns(rows, sums, metric),
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

static double counter_of(const struct profile_counters *counters, enum metric metric)
{
    return counters ? counters->value[metric - METRIC_COUNTER] : 0;
}

double row_value(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric)
{
    return metric < METRIC_COUNTER ? metric_value(rows, exclusive ? row->exclusive : row->inclusive, metric)
                                   : counter_of(row_counters(row, exclusive), metric);
}

double rows_whole_value(const struct rows *rows, enum metric metric)
{
    return metric < METRIC_COUNTER ? metric_value(rows, rows_whole(rows), metric)
                                   : counter_of(rows_whole_counters(rows), metric);
}

double row_absolute(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric)
{
    return metric < METRIC_COUNTER ? metric_absolute(rows, exclusive ? row->exclusive : row->inclusive, metric)
                                   : percent(row_value(rows, row, exclusive, metric), rows_whole_value(rows, metric));
}

double row_relative(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric)
{
    return metric < METRIC_COUNTER ? metric_relative(rows, exclusive ? row->exclusive : row->inclusive, metric)
                                   : row_absolute(rows, row, exclusive, metric);
}

const char *rows_metric_title(const struct rows *rows, enum metric metric)
{
    return metric < METRIC_COUNTER ? metric_title(metric) : rows->counter_name[metric - METRIC_COUNTER];
}

bool rows_find_metric(const struct rows *rows, const char *name, size_t bytes, enum metric *metric)
{
    for (size_t i = 0; i < METRIC_NAMED + rows->counter_count; i++) {
        const char *word = i < METRIC_NAMED ? metric_word[i] : rows->counter_name[i - METRIC_NAMED];
        if (strlen(word) == bytes && strncmp(word, name, bytes) == 0) {
            *metric = (enum metric)(i < METRIC_NAMED ? i : METRIC_COUNTER + i - METRIC_NAMED);
            return true;
        }
    }
    return false;
}

char *rows_metric_names(const struct rows *rows)
{
    char *text;
    FILE *names = memory_stream(&text);
    for (int i = 0; metric_word[i]; i++)
        fprintf(names, "%s%s", i ? ", " : "", metric_word[i]);
    fputs(rows->counter_count ? "; or a counter of this profile: " : "; this profile has no counters", names);
    for (size_t i = 0; i < rows->counter_count; i++) {
        char *name = format_clean(rows->counter_name[i], true);
        fprintf(names, "%s%s", i ? ", " : "", name);
        free(name);
    }
    memory_stream_close(names);
    return text;
}
