/* Measures: everything that is measured for a row, for use in any format. They are the metrics of profile.csv
 * and their errors, calls, exact times and counters. A format selects measures by kind. Only this unit
 * defines their names, units and values. */
#ifndef BLAME_COMMAND_EXPORT_MEASURES_H
#define BLAME_COMMAND_EXPORT_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/rows/metric.h"

enum measure_kind {
    MEASURE_METRIC, /* metric; `number` is its enum metric */
    MEASURE_CALLS,  /* how often a phase, event or parameter began */
    /* time spent in a phase, event or parameter, measured by a clock; the own time excludes phases inside it */
    MEASURE_EXACT,
    /* hardware or kernel counter, counted from sample to sample; `number` is its index in rows->counter_name */
    MEASURE_COUNTER,
    /* the same counters, counted from the start to the end of each phase, event or parameter; only inclusive
     * values */
    MEASURE_COUNTED,
    MEASURE_ERROR, /* half the width of the 95 % interval of a metric; `number` is the enum metric */
};

#define MEASURE_NO_PARENT SIZE_MAX

struct measure {
    uint8_t kind; /* enum measure_kind */
    uint16_t number;
    bool whole;      /* whether all values are integers of 0 or more */
    bool in_seconds; /* whether values are seconds; otherwise, they are numbers of samples, calls or events */
    bool
        /* whether the own values along the calls add up to the inclusive value, and the values of all
         * locations to that of the sum. Otherwise, a value holds only for its own row or location */
        adds_up;
    size_t
        /* index of the measure of which this one is a part, always smaller than this measure's index;
         * MEASURE_NO_PARENT: none. A measure with parts is the sum of its parts */
        parent;
    uint8_t level;     /* depth in the tree of parts; a measure without a parent has level 0 */
    char *title;       /* title of the column in profile.csv, such as "lock wait", "exact", "lock wait ±" */
    char *word;        /* title as one word, such as "lock_wait", "exact", "lock_wait_error" */
    const char *about; /* description; that of a metric comes from metric_about() */
};

struct measures {
    struct measure *
        /* measures in preorder: the parts of a measure follow it directly, each with its own parts */
        measure;
    size_t count;
};

/* Lists all measures that the rows have. Calls and exact times are listed only if there are phases, and
 * counters only if the run had any. effort = work + blame + no core + blocked + mpi wait, and blame =
 * idleness + overhead + lock wait. Other measures are not parts. */
void export_measures_gather(struct measures *measures, const struct rows *rows);
/* Lists only the measures that are not metrics, for formats that have an order of their own for metrics.
 * Errors are listed only if `errors` is set. */
void export_measures_gather_beside(struct measures *measures, const struct rows *rows, bool errors);
void export_measures_free(struct measures *measures);

/* Return the own or the inclusive value of a row, in seconds or as a number. Return 0 if the row cannot have
 * the measure. The own value of a function includes its statements. The rows may be those of one location;
 * errors are then too large, because they are estimated for all threads together. */
double export_measure_own(const struct measure *measure, const struct rows *rows, const struct row *row);
double export_measure_inclusive(const struct measure *measure, const struct rows *rows, const struct row *row);
/* Returns the own or inclusive value as an integer; seconds are converted to ns. */
int64_t export_measure_whole(const struct measure *measure, const struct rows *rows, const struct row *row,
                             bool inclusive);

/* Returns how many measures have own values: metrics, calls, exact times and counters read at samples. They
 * come first in the list. */
static inline size_t export_measures_own(const struct measures *measures)
{
    size_t count = 0;
    while (count < measures->count && measures->measure[count].kind <= MEASURE_COUNTER)
        count++;
    return count;
}

/* Returns whether the measure has inclusive values, or, if `inclusive` is false, own values. Calls have only
 * own values. Counters of phases have only inclusive ones. */
static inline bool export_measure_has(const struct measure *measure, bool inclusive)
{
    return measure->kind != (inclusive ? MEASURE_CALLS : MEASURE_COUNTED);
}

#endif
