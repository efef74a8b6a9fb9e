/* The metrics of rows; docs/accounting.md derives them. */
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
    METRIC_EFFORT,  /* the sum of the first METRIC_PARTS of metric_parts */
    METRIC_ORDER,   /* the sum of the first METRIC_ALWAYS_PARTS of metric_parts: rows are sorted by it */
    METRIC_COUNTER, /* the first of the rows' counters; the others follow */
};

enum { /* how many rows the table has */
#define METRIC(...) +1
       METRIC_ALWAYS_PARTS = METRIC_TABLE_ALWAYS(METRIC),
       METRIC_PARTS = METRIC_ALWAYS_PARTS METRIC_TABLE_RARE(METRIC), /* all parts of the effort */
       METRIC_TOLD = METRIC_PARTS METRIC_TABLE_RANKS(METRIC),        /* the same and rank idleness */
#undef METRIC
       METRIC_FIRST_COLUMNS = 8, /* before the percentages of profile.csv; the other columns follow them */
       METRIC_BLAME_PARTS = 3
};

extern const char *const metric_word[METRIC_NAMED + 1]; /* names in options; NULL after the last */
extern const char *const metric_unit[METRIC_NAMED];
/* Returns the name in columns and headings: "lock wait"; "effort". Counters have none. */
const char *metric_title(enum metric metric);
const char *metric_about(enum metric metric);   /* Returns what a metric is: a line without a full stop. */
const char *metric_summary(enum metric metric); /* Returns its explanation in the summary, or NULL. */

extern const enum metric metric_columns[METRIC_COLUMNS]; /* in the order of files */
/* The parts of the effort, work first, then the rare parts, then rank idleness. The first METRIC_ALWAYS_PARTS are shown
 * whatever their value is. */
extern const enum metric metric_parts[METRIC_TOLD];
#define METRIC_LEAST_SHOWN 0.05 /* per cent: the least that is not printed as 0.0 */
/* Returns whether a metric is a rare part or rank idleness: those are shown only if the program has some. */
bool metric_is_rare(enum metric metric);
/* Returns whether a metric gets a line or column: a rare one only if it is at least METRIC_LEAST_SHOWN of the
 * whole. */
bool metric_is_shown(const struct rows *rows, enum metric metric);
extern const enum metric metric_blame_part[METRIC_BLAME_PARTS]; /* the parts of blame */

/* Returns the value of a metric for a row's inclusive or exclusive sums, in seconds; of samples their number. */
double metric_value(const struct rows *rows, const struct profile_sums *sums, enum metric metric);
/* Return the percentage of LMF13 eq. 2, 0 ... 100: of the whole program's effort, and of the row's own. Three
 * metrics have another whole. For core and shared idleness the effort contains that idleness. For rank
 * idleness it contains the other ranks' time in place of the own time that is blamed on them. Samples are
 * compared with all samples. */
double metric_absolute(const struct rows *rows, const struct profile_sums *sums, enum metric metric);
double metric_relative(const struct rows *rows, const struct profile_sums *sums, enum metric metric);
/* Returns the percentage in CSV files: of the METRIC_ORDER of `of`. */
double metric_of_order(const struct rows *rows, const struct profile_sums *sums, enum metric metric,
                       const struct profile_sums *of);

/* Return the same for a row. They also take counters, whose relative percentages are the absolute ones. */
double row_value(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric);
double row_absolute(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric);
double row_relative(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric);
/* Returns the whole of a metric's or counter's absolute percentages. */
double rows_whole_value(const struct rows *rows, enum metric metric);
/* Returns a metric's title, or a counter's name as the user gave it. */
const char *rows_metric_title(const struct rows *rows, enum metric metric);
/* Finds a metric by its word, or a counter of the rows by its name. */
bool rows_find_metric(const struct rows *rows, const char *name, size_t bytes, enum metric *metric);
/* Returns all words and names that rows_find_metric() finds, as a list for messages; malloc'ed. */
char *rows_metric_names(const struct rows *rows);

/* Returns the metric to show if the user names none: blame, or work if there is hardly any blame. */
enum metric metric_default(const struct rows *rows);

#endif
