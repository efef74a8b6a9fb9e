/* Computes metrics from a row's sums. docs/accounting.md derives the metrics. */
#include "command/rows/metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/text/format.h"
#include "command/text/memory.h"

const char *const metric_word[METRIC_NAMED + 1] = {
#define METRIC(name, column, value, word, ...) word,
    METRIC_TABLE(METRIC)
#undef METRIC
};

const char *const metric_unit[METRIC_NAMED] = {
#define METRIC(name, column, value, word, title, unit, ...) unit,
    METRIC_TABLE(METRIC)
#undef METRIC
};

static const struct {
    const char *title, *summary, *about;
} metric_text[METRIC_NAMED] = {
#define METRIC(name, column, value, word, title, unit, summary, light, dark, help) {title, summary, help},
    METRIC_TABLE(METRIC)
#undef METRIC
};

const char *metric_title(enum metric metric)
{
    return metric < METRIC_NAMED ? metric_text[metric].title : "effort";
}

const char *metric_about(enum metric metric)
{
#define METRIC(name, column, value, word, title, ...) ", " title
    return metric < METRIC_NAMED
               ? metric_text[metric].about
               : "All time of all threads: work, idleness, overhead, lock wait" METRIC_TABLE_RARE(METRIC);
#undef METRIC
}

const char *metric_summary(const struct rows *rows, enum metric metric)
{
    return rows->without_openmp && metric == METRIC_BLOCKED ? "asleep or spinning" : metric_text[metric].summary;
}

const enum metric metric_columns[METRIC_COLUMNS] = {
#define METRIC(name, column, ...) [column] = METRIC_##name,
    METRIC_TABLE_COLUMNS(METRIC)
#undef METRIC
};

/* This list has work before idleness; the metric table has idleness before work. */
#define PART_INDEX(metric) ((metric) == METRIC_WORK ? 0 : (metric) == METRIC_IDLENESS ? 1 : (metric))
const enum metric metric_parts[METRIC_ALL_PARTS] = {
#define METRIC(name, ...) [PART_INDEX(METRIC_##name)] = METRIC_##name,
    METRIC_TABLE_ALWAYS(METRIC)
#undef METRIC
#define METRIC(name, ...) METRIC_##name,
        METRIC_TABLE_RARE(METRIC) METRIC_TABLE_RANKS(METRIC)
#undef METRIC
};

const enum metric metric_blame_part[METRIC_BLAME_PARTS] = {METRIC_IDLENESS, METRIC_OVERHEAD, METRIC_LOCK_WAIT};

#define LEAST_BLAME 1 /* percentage of blame below which a program's work is shown first */

/* Returns the idleness of equation 1 in LMF13, for a constant number t of threads or cores. A value that is
 * negative only because of rounding becomes 0. */
static double metric_idleness_ns(const struct profile_sums *sums, double t)
{
    double capacity = t * sums->inverse_busy, own = profile_sums_own(sums), idle = capacity - own;
    return idle < 0 && -idle <= 1e-9 * (capacity + own) ? 0 : idle;
}

static double metric_core_idleness_ns(const struct rows *rows, const struct profile_sums *sums)
{
    return rows->without_team ? sums->core_idle : metric_idleness_ns(sums, rows->cores);
}

static double metric_value_ns(const struct rows *rows, const struct profile_sums *sums, enum metric metric);

static double metric_sum_ns(const struct rows *rows, const struct profile_sums *sums, const enum metric *metric,
                            size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += metric_value_ns(rows, sums, metric[i]);
    return sum;
}

static double metric_blame_ns(const struct rows *rows, const struct profile_sums *sums)
{
    return metric_sum_ns(rows, sums, metric_blame_part, METRIC_BLAME_PARTS);
}

static double metric_value_ns(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    switch (metric) {
#define METRIC(name, column, value, ...)                                                                               \
    case METRIC_##name:                                                                                                \
        return value;
        METRIC_TABLE(METRIC)
#undef METRIC
    case METRIC_THREAD_IDLENESS:
        return metric_idleness_ns(sums, rows->threads);
    case METRIC_EFFORT:
        return metric_sum_ns(rows, sums, metric_parts, METRIC_PARTS);
    case METRIC_ORDER:
        return metric_sum_ns(rows, sums, metric_parts, METRIC_ALWAYS_PARTS);
    case METRIC_COUNTER: /* counters belong to rows, not to sums */
        break;
    }
    return (double)sums->samples;
}

double metric_value(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    double value = metric_value_ns(rows, sums, metric);
    return metric == METRIC_SAMPLES ? value : value * 1e-9;
}

static double metric_percent(double part, double whole)
{
    if (!(whole > 0) || !(part > 0))
        return 0;
    return part < whole ? 100 * part / whole : 100;
}

static double metric_effort_with(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    if (metric == METRIC_SAMPLES)
        return (double)sums->samples;
    double effort = metric_value_ns(rows, sums, METRIC_EFFORT);
    if (metric == METRIC_RANK_IDLENESS)
        return effort + sums->rank_idle - sums->rank_waited;
    bool idleness =
        metric == METRIC_CORE_IDLENESS || metric == METRIC_SHARED_IDLENESS || metric == METRIC_THREAD_IDLENESS;
    return idleness ? effort - metric_value_ns(rows, sums, METRIC_IDLENESS) + metric_value_ns(rows, sums, metric)
                    : effort;
}

double metric_absolute(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    if (metric == METRIC_CORE_IDLENESS && rows->without_team && !rows->job)
        return metric_percent(metric_value_ns(rows, sums, metric), rows->cores_ns);
    return metric_percent(metric_value_ns(rows, sums, metric),
                          metric_effort_with(rows, rows_whole(rows),
                                             rows->job && metric == METRIC_RANK_IDLENESS ? METRIC_EFFORT : metric));
}

bool metric_is_rare(enum metric metric)
{
    for (size_t i = METRIC_ALWAYS_PARTS; i < METRIC_ALL_PARTS; i++)
        if (metric_parts[i] == metric)
            return true;
    return false;
}

bool metric_is_shown(const struct rows *rows, enum metric metric)
{
    bool rare = metric_is_rare(metric);
    for (size_t i = 0; i < METRIC_BLAME_PARTS; i++)
        rare |= rows->without_openmp && metric == metric_blame_part[i];
    return !rare || metric_absolute(rows, rows_whole(rows), metric) >= METRIC_LEAST_SHOWN;
}

bool rows_show_cores(const struct rows *rows)
{
    return rows->without_team && !rows->job && rows->threads > 1 && rows->cores > 1 && !rows->events;
}

enum metric metric_default(const struct rows *rows)
{
    return metric_absolute(rows, rows_whole(rows), METRIC_BLAME) >= LEAST_BLAME ? METRIC_BLAME : METRIC_WORK;
}

double metric_relative(const struct rows *rows, const struct profile_sums *sums, enum metric metric)
{
    return metric_percent(metric_value_ns(rows, sums, metric), metric_effort_with(rows, sums, metric));
}

double metric_of_order(const struct rows *rows, const struct profile_sums *sums, enum metric metric,
                       const struct profile_sums *of)
{
    return metric_percent(metric_value_ns(rows, sums, metric), metric_value_ns(rows, of, METRIC_ORDER));
}

static double metric_of_counters(const struct profile_counters *counters, enum metric metric)
{
    return counters ? counters->value[metric - METRIC_COUNTER] : 0;
}

double row_value(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric)
{
    return metric < METRIC_COUNTER ? metric_value(rows, exclusive ? row->exclusive : row->inclusive, metric)
                                   : metric_of_counters(row_counters(row, exclusive), metric);
}

double rows_whole_value(const struct rows *rows, enum metric metric)
{
    return metric < METRIC_COUNTER ? metric_value(rows, rows_whole(rows), metric)
                                   : metric_of_counters(rows_whole_counters(rows), metric);
}

double row_absolute(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric)
{
    return metric < METRIC_COUNTER
               ? metric_absolute(rows, exclusive ? row->exclusive : row->inclusive, metric)
               : metric_percent(row_value(rows, row, exclusive, metric), rows_whole_value(rows, metric));
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
