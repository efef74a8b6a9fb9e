#include "command/export/measures.h"

#include <stdlib.h>
#include <string.h>

#include "command/export/export.h"
#include "command/rows/error.h"
#include "command/text/memory.h"

/* Adds a measure, which takes over `title` and `word`. If `word` is NULL, it is derived from `title`. */
static void export_measures_add(struct measures *measures, const struct measure *measure, char *title, char *word)
{
    struct measure *made = &measures->measure[measures->count++];
    *made = *measure;
    made->title = title;
    made->word = word ? word : memory_text("%s", title);
    for (char *c = made->word; *c; c++)
        *c = *c == ' ' ? '_' : *c;
}

/* Adds a metric. Its parent becomes the last measure with a lower level. */
static void export_measures_add_metric(struct measures *measures, const struct rows *rows, enum metric metric,
                                       uint8_t level)
{
    size_t parent = measures->count;
    while (level && measures->measure[--parent].level >= level)
        ;
    export_measures_add(measures,
                        &(struct measure){.kind = MEASURE_METRIC,
                                          .number = metric,
                                          .whole = metric == METRIC_SAMPLES,
                                          .adds_up = true,
                                          .in_seconds = metric != METRIC_SAMPLES && !rows->events,
                                          .level = level,
                                          .parent = level ? parent : MEASURE_NO_PARENT,
                                          .about = metric_about(metric)},
                        memory_text("%s", metric_title(metric)), NULL);
}

/* Adds effort and its parts, then the metrics that are not parts of effort. The parts of blame follow blame. */
static void export_measures_add_metrics(struct measures *measures, const struct rows *rows)
{
    static const enum metric others[] = {
#define METRIC(name, ...) METRIC_##name,
        METRIC_TABLE_OTHERS(METRIC) METRIC_TABLE_RANKS(METRIC)
#undef METRIC
    };
    export_measures_add_metric(measures, rows, METRIC_EFFORT, 0);
    export_measures_add_metric(measures, rows, METRIC_WORK, 1);
    export_measures_add_metric(measures, rows, METRIC_BLAME, 1);
    for (size_t i = 0; i < METRIC_BLAME_PARTS; i++)
        export_measures_add_metric(measures, rows, metric_blame_part[i], 2);
    for (size_t i = METRIC_ALWAYS_PARTS; i < METRIC_PARTS; i++)
        export_measures_add_metric(measures, rows, metric_parts[i], 1);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        export_measures_add_metric(measures, rows, others[i], 0);
}

static void export_measures_add_exact(struct measures *measures)
{
    const struct measure calls = {.kind = MEASURE_CALLS,
                                  .whole = true,
                                  .parent = MEASURE_NO_PARENT,
                                  .about = "Number of times that a phase, event or parameter started"};
    const struct measure exact = {.kind = MEASURE_EXACT,
                                  .in_seconds = true,
                                  .adds_up = true,
                                  .parent = MEASURE_NO_PARENT,
                                  .about = "Wall-clock time in phases, events and parameters"};
    export_measures_add(measures, &calls, memory_text("calls"), NULL);
    export_measures_add(measures, &exact, memory_text("exact"), NULL);
}

static void export_measures_add_counters(struct measures *measures, const struct rows *rows, bool counted)
{
    for (size_t i = 0; i < rows->counter_count; i++)
        export_measures_add(
            measures,
            &(struct measure){.kind = counted ? MEASURE_COUNTED : MEASURE_COUNTER,
                              .number = (uint16_t)i,
                              .adds_up = !counted,
                              .parent = MEASURE_NO_PARENT,
                              .about = counted ? "Counted from the start to the end of phases, events and parameters"
                                               : "Counted at samples"},
            memory_text(counted ? "%s exact" : "%s", rows->counter_name[i]), NULL);
}

static void export_measures_add_errors(struct measures *measures, const struct rows *rows)
{
    for (size_t i = 0; i < METRIC_COLUMNS; i++)
        export_measures_add(
            measures,
            &(struct measure){.kind = MEASURE_ERROR,
                              .number = metric_columns[i],
                              .in_seconds = metric_columns[i] != METRIC_SAMPLES && !rows->events,
                              .parent = MEASURE_NO_PARENT,
                              .about = "95 of 100 measurements differ from the true value by no more than this"},
            memory_text("%s \xc2\xb1", metric_title(metric_columns[i])),
            memory_text("%s error", metric_title(metric_columns[i])));
}

static struct measures export_measures_none(const struct rows *rows)
{
    return (struct measures){.measure = memory_array(METRIC_NAMED + 1 + 2 + 2 * rows->counter_count + METRIC_COLUMNS,
                                                     sizeof(struct measure))};
}

static void export_measures_add_beside(struct measures *measures, const struct rows *rows, bool errors)
{
    if (rows->probed)
        export_measures_add_exact(measures);
    export_measures_add_counters(measures, rows, false);
    if (rows->probed)
        export_measures_add_counters(measures, rows, true);
    if (errors)
        export_measures_add_errors(measures, rows);
}

void export_measures_gather(struct measures *measures, const struct rows *rows)
{
    *measures = export_measures_none(rows);
    export_measures_add_metrics(measures, rows);
    export_measures_add_beside(measures, rows, true);
}

void export_measures_gather_beside(struct measures *measures, const struct rows *rows, bool errors)
{
    *measures = export_measures_none(rows);
    export_measures_add_beside(measures, rows, errors);
}

void export_measures_free(struct measures *measures)
{
    for (size_t i = 0; i < measures->count; i++) {
        free(measures->measure[i].title);
        free(measures->measure[i].word);
    }
    free(measures->measure);
}

static double export_measure_value(const struct measure *measure, const struct rows *rows, const struct row *row,
                                   bool inclusive)
{
    const struct profile_sums *sums = inclusive ? row->inclusive : row->exclusive;
    const struct row_extra *extra = row->extra;
    if (measure->kind == MEASURE_METRIC)
        return metric_value(rows, sums, (enum metric)measure->number);
    if (measure->kind == MEASURE_ERROR)
        return metric_error(rows, sums, (enum metric)measure->number);
    if (!extra)
        return 0;
    switch ((enum measure_kind)measure->kind) {
    case MEASURE_CALLS:
        return (double)extra->probe.calls;
    case MEASURE_EXACT:
        return 1e-9 * (inclusive ? extra->probe.inclusive_ns : extra->probe.exclusive_ns);
    case MEASURE_COUNTED:
        return extra->exact.value[measure->number];
    default:
        return (inclusive ? &extra->inclusive : &extra->exclusive)->value[measure->number];
    }
}

double export_measure_own(const struct measure *measure, const struct rows *rows, const struct row *row)
{
    return export_measure_value(measure, rows, row, false);
}

double export_measure_inclusive(const struct measure *measure, const struct rows *rows, const struct row *row)
{
    return export_measure_value(measure, rows, row, true);
}

int64_t export_measure_whole(const struct measure *measure, const struct rows *rows, const struct row *row,
                             bool inclusive)
{
    return export_whole(export_measure_value(measure, rows, row, inclusive) * (measure->in_seconds ? 1e9 : 1));
}
