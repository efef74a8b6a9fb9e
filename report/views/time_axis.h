/* What views along time have in common: columns of a terminal that stand for stretches of time, behind a margin. */
#ifndef BLAME_REPORT_VIEWS_TIME_AXIS_H
#define BLAME_REPORT_VIEWS_TIME_AXIS_H

#include "report/tables/culprits.h"
#include "report/views/style.h"

struct time_axis {
    FILE *out;
    const struct profile *profile;
    const struct view_style *style;
    size_t margin, columns;
    double span_ns; /* from the timeline's origin to the run's end */
};

/* From the timeline's origin to the end of the run, in as many columns as there is room for, and bins. */
struct time_axis time_axis_start(FILE *out, const struct profile *profile, const struct view_style *style, size_t margin);

/* Adds what is from begin to end, in nanoseconds from the origin, to the columns that it falls into, by their parts of it. */
void time_axis_add(const struct time_axis *axis, double *column, double begin_ns, double end_ns, double amount);

/* A line of seconds from the process's start, and above it one for each of the longest phases: where they ran, or where their executions began. */
void time_axis_print(const struct time_axis *axis);

/* One line each of the first `most` culprits: name, seconds and when; in_parts: seconds of idleness and lock wait apart. */
void time_axis_culprits(const struct time_axis *axis, const struct rows *rows, const struct culprits *culprits, size_t most, bool in_parts);

/* The name, fitted to the margin but for `taken` columns, and blanks up to there. */
void time_axis_label(const struct time_axis *axis, const char *name, size_t taken);

#endif
