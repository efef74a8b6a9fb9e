/* Measures: all values that a row can have, for any format. They are the metrics of profile.csv and their
 * errors, calls, exact times and counters. A format selects measures by kind. This unit alone defines their
 * names, units and values. */
#ifndef BLAME_COMMAND_EXPORT_MEASURES_H
#define BLAME_COMMAND_EXPORT_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/rows/metric.h"

enum measure_kind {
    MEASURE_METRIC,  /* number: enum metric */
    MEASURE_CALLS,   /* number of times that a phase, event or parameter began */
    MEASURE_EXACT,   /* time in phases, events and parameters, by the clock; own values exclude nested ones */
    MEASURE_COUNTER, /* number: index in rows->counter_name; counted at samples */
    /* the same counters, counted from the start to the end of each phase, event or parameter; inclusive */
    MEASURE_COUNTED,
    MEASURE_ERROR, /* number: enum metric; half the width of that metric's 95 % interval */
};

#define MEASURE_NO_PARENT SIZE_MAX

struct measure {
    uint8_t kind; /* enum measure_kind */
    uint16_t number;
    bool whole;      /* whether values are whole numbers of 0 or more */
    bool in_seconds; /* in seconds; otherwise a number of samples, calls or events */
    bool
        /* whether own values add up along calls to inclusive values, and the values of all locations to the
         * sum's. If not, a value is valid only for its own row or location */
        adds_up;
    size_t
        /* index of the measure of which this is a part, always smaller than its own; MEASURE_NO_PARENT: none.
         * A measure is the sum of its parts */
        parent;
    uint8_t level;     /* number of measures above this one in the tree of parts */
    char *title;       /* title of the column in profile.csv: "lock wait", "exact", "lock wait ±" */
    char *word;        /* title without blanks: "lock_wait", "exact", "lock_wait_error" */
    const char *about; /* description; for metrics, that of metric_about() */
};

struct measures {
    struct measure *
        /* in preorder: a part follows its parent, or its preceding sibling and that sibling's parts */
        measure;
    size_t count;
};

/* Lists all measures that the rows can have. Calls and exact times exist only if there are phases, counters
 * only if the run had some. effort = work + blame + no core + blocked + mpi wait, and blame = idleness +
 * overhead + lock wait. Other measures are not parts. */
void measures_gather(struct measures *measures, const struct rows *rows);
/* Lists only the measures that are not metrics, for formats with their own order of metrics. `errors`:
 * whether to list errors too. */
void measures_gather_beside(struct measures *measures, const struct rows *rows, bool errors);
void measures_free(struct measures *measures);

/* Return a row's own or inclusive value, in seconds or as a number; 0 for a measure that the row cannot have.
 * The own value of a function includes its statements. The rows may be those of a location. Errors are
 * estimated for all threads together, so they are too large for one location. */
double measure_own(const struct measure *measure, const struct rows *rows, const struct row *row);
double measure_inclusive(const struct measure *measure, const struct rows *rows, const struct row *row);
/* Returns the own or inclusive value as a whole number; seconds become nanoseconds. */
int64_t measure_whole(const struct measure *measure, const struct rows *rows, const struct row *row, bool inclusive);

/* Returns the number of measures that a row itself has: metrics, calls, exact times and counters at samples.
 * They come first. */
static inline size_t measures_own(const struct measures *measures)
{
    size_t count = 0;
    while (count < measures->count && measures->measure[count].kind <= MEASURE_COUNTER)
        count++;
    return count;
}

/* Returns whether the measure has inclusive values, or, if `inclusive` is false, own values. Calls have only
 * own values; counts from start to end have only inclusive ones. */
static inline bool measure_has(const struct measure *measure, bool inclusive)
{
    return measure->kind != (inclusive ? MEASURE_CALLS : MEASURE_COUNTED);
}

#endif
