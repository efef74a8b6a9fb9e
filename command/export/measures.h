/* What rows are measured by, all of it, as formats may show it: the metrics of profile.csv, what is stated of their errors, calls, exact times and
 * counters. A format chooses by kind; what a measure is called, its unit and its value are said here once. */
#ifndef BLAME_COMMAND_EXPORT_MEASURES_H
#define BLAME_COMMAND_EXPORT_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command/rows/metric.h"

enum measure_kind {
    MEASURE_METRIC,  /* number: enum metric */
    MEASURE_CALLS,   /* of phases, events and parameters, by the clock: how often they were begun, */
    MEASURE_EXACT,   /* their time without that of others in them (own), and with it (inclusive) */
    MEASURE_COUNTER, /* number: of rows->counter_name; counted at samples */
    MEASURE_COUNTED, /* the same from begin to end of phases, events and parameters; inclusive */
    MEASURE_ERROR,   /* number: enum metric, whose value is stated with +- so much */
};

#define MEASURE_NO_PARENT SIZE_MAX

struct measure {
    uint8_t kind; /* enum measure_kind */
    uint16_t number;
    bool whole;      /* values are whole numbers, not below 0 */
    bool in_seconds; /* else numbers: of samples, calls, events */
    bool
        adds_up; /* own values add up along calls to inclusive ones, and locations' to the sum's. Else a value is the row's, or the location's, alone */
    size_t
        parent; /* the measure that it is a part of, whose number is smaller: parts add up to it; or MEASURE_NO_PARENT */
    uint8_t level;     /* how many are above it */
    char *title;       /* "lock wait", "exact", "lock wait ±", as columns of profile.csv have it */
    char *word;        /* without blanks: "lock_wait", "exact", "lock_wait_error" */
    const char *about; /* as metric_about() has it */
};

struct measures {
    struct measure *
        measure; /* in preorder of parts: a part stands behind what it is a part of, or behind its siblings with their parts */
    size_t count;
};

/* Those that the rows can have: calls and exact times where there are phases, counters where there are. Where an effort stands first of metrics:
 * effort = work + blame + no core + blocked + mpi wait, blame = idleness + overhead + lock wait. Others are no parts. */
void measures_gather(struct measures *measures, const struct rows *rows);
/* The same without metrics, which a format may have in an order of its own: what is by the clock and what is counted; errors where they are asked for. */
void measures_gather_beside(struct measures *measures, const struct rows *rows, bool errors);
void measures_free(struct measures *measures);

/* A row's value, of rows of the sum or of a location: without what is below it, but for functions with their statements; and with it. In seconds, or a
 * number. What a row cannot have is 0. Errors are those of all threads' rows: of a location they say too much. */
double measure_own(const struct measure *measure, const struct rows *rows, const struct row *row);
double measure_inclusive(const struct measure *measure, const struct rows *rows, const struct row *row);
/* Either of them in whole nanoseconds, or as a whole number. */
int64_t measure_whole(const struct measure *measure, const struct rows *rows, const struct row *row, bool inclusive);

/* How many of the first are a row's own: metrics, calls, exact times and counters at samples. */
static inline size_t measures_own(const struct measures *measures)
{
    size_t count = 0;
    while (count < measures->count && measures->measure[count].kind <= MEASURE_COUNTER)
        count++;
    return count;
}

/* Whether own or inclusive values say anything: calls are a row's alone, and what is counted from begin to end is so with all that is between. */
static inline bool measure_has(const struct measure *measure, bool inclusive)
{
    return measure->kind != (inclusive ? MEASURE_CALLS : MEASURE_COUNTED);
}

#endif
