/* The metrics of rows. docs/accounting.md derives them. */
#ifndef BLAME_COMMAND_ROWS_METRIC_H
#define BLAME_COMMAND_ROWS_METRIC_H

#include "command/rows/metric_table.h"
#include "command/rows/row.h"

enum metric {
#define METRIC(name, ...) METRIC_##name,
    METRIC_TABLE(METRIC)
#undef METRIC
        METRIC_NAMED,
    METRIC_COLUMNS = METRIC_BLAME,
    METRIC_THREAD_IDLENESS = METRIC_NAMED,
    METRIC_EFFORT,  /* sum of the first METRIC_PARTS metrics in metric_parts */
    METRIC_ORDER,   /* sum of the first METRIC_ALWAYS_PARTS metrics in metric_parts; rows are sorted by it */
    METRIC_COUNTER, /* first counter of the rows; the other counters follow */
};

enum { /* number of rows in parts of the metric table */
#define METRIC(...) +1
       METRIC_ALWAYS_PARTS = METRIC_TABLE_ALWAYS(METRIC),
       METRIC_PARTS = METRIC_ALWAYS_PARTS METRIC_TABLE_RARE(METRIC), /* all parts of the effort */
       /* all parts of the effort, and rank idleness */
       METRIC_ALL_PARTS = METRIC_PARTS METRIC_TABLE_RANKS(METRIC),
#undef METRIC
       /* METRIC_FIRST_COLUMNS: number of columns of profile.csv that come before the percentages; the other
        * columns come after them */
       METRIC_FIRST_COLUMNS = 8,
       METRIC_BLAME_PARTS = 3
};

/* names of metrics in options; NULL after the last one */
extern const char *const metric_word[METRIC_NAMED + 1];
extern const char *const metric_unit[METRIC_NAMED];
/* Returns a metric's name in columns and headings, such as "lock wait" or "effort". Not for counters. */
const char *metric_title(enum metric metric);
/* Returns a metric's explanation: one line, without a full stop. */
const char *metric_about(enum metric metric);
/* Returns a metric's explanation in the summary of a program; NULL if it has none. */
const char *metric_summary(const struct rows *rows, enum metric metric);

extern const enum metric metric_columns[METRIC_COLUMNS]; /* metrics in the order of the columns in files */
/* The parts of the effort, followed by rank idleness. Work comes first, and the rare parts come last. The
 * first METRIC_ALWAYS_PARTS are shown whatever their values are. */
extern const enum metric metric_parts[METRIC_ALL_PARTS];
#define METRIC_LEAST_SHOWN 0.05 /* smallest percentage that is not printed as 0.0 */
/* Returns whether a metric is a rare part of the effort, or rank idleness. Such metrics are shown only if the
 * program has some of them. */
bool metric_is_rare(enum metric metric);
/* Returns whether a metric gets a line or a column. A rare metric gets one only if it is at least
 * METRIC_LEAST_SHOWN per cent of the whole. Without OpenMP, so does one of idleness, overhead and lock wait. */
bool metric_is_shown(const struct rows *rows, enum metric metric);
/* Returns whether core idleness is shown beside the parts of the effort: the program has no team, but several threads, so
 * it could have used several cores. */
bool rows_show_cores(const struct rows *rows);
extern const enum metric metric_blame_part[METRIC_BLAME_PARTS]; /* the metrics whose sum is blame */

/* Returns the value of a metric for a row's inclusive or exclusive sums, in s. For METRIC_SAMPLES, returns
 * the number of samples. */
double metric_value(const struct rows *rows, const struct profile_sums *sums, enum metric metric);
/* Return a metric as a percentage, 0 to 100 (LMF13, equation 2): of the whole program's effort, and of the
 * row's own effort. Some metrics have another base. For core, shared and thread idleness, the effort contains
 * that metric in place of idleness. For rank idleness, the effort contains the time of the other ranks in
 * place of the row's own time that is blamed on them. Without a team, core idleness is an absolute percentage of the time
 * that the cores offered. The absolute percentage in a job is an exception: it
 * refers to the plain effort. Samples are compared with all samples. */
double metric_absolute(const struct rows *rows, const struct profile_sums *sums, enum metric metric);
double metric_relative(const struct rows *rows, const struct profile_sums *sums, enum metric metric);
/* Returns a metric as CSV files have it: as a percentage of the METRIC_ORDER of `of`. */
double metric_of_order(const struct rows *rows, const struct profile_sums *sums, enum metric metric,
                       const struct profile_sums *of);

/* Return the values of a row. They also accept counters. A counter's relative percentage is its absolute
 * percentage. */
double row_value(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric);
double row_absolute(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric);
double row_relative(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric);
/* Returns the whole program's value of a metric or counter. */
double rows_whole_value(const struct rows *rows, enum metric metric);
/* Returns a metric's title, or a counter's name as the user gave it. */
const char *rows_metric_title(const struct rows *rows, enum metric metric);
/* Finds a metric by its name in options, or a counter of the rows by its name. Returns false if there is
 * none. */
bool rows_find_metric(const struct rows *rows, const char *name, size_t bytes, enum metric *metric);
/* Returns a list, for messages, of all names that rows_find_metric() finds. The caller frees it. */
char *rows_metric_names(const struct rows *rows);

/* Returns the metric to show if the user names none: blame or, if the program has hardly any blame, work. */
enum metric metric_default(const struct rows *rows);

#endif
