/* What a row can be measured by: docs/accounting.md derives it. */
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
    METRIC_EFFORT,  /* the sum of metric_parts */
    METRIC_ORDER,   /* the same of those that always have a value: what rows are in the order of */
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
#define METRIC_LEAST_SHOWN 0.05 /* per cent: what is printed as more than 0.0 */
/* Whether it is one of the last of those, which are told of only where there is something to tell. */
bool metric_is_rare(enum metric metric);
/* Whether the metric is worth a line or a column: a rare one only where it is not 0.0 % of all. */
bool metric_is_shown(const struct rows *rows, enum metric metric);
extern const enum metric metric_blame_part[METRIC_BLAME_PARTS]; /* the same without work */

/* Value of one metric of a row's inclusive or exclusive metrics. */
double metric_value(const struct rows *rows, const struct profile_sums *sums, enum metric metric);
/* LMF13 eq. 2 in percent, 0 ... 100: against the whole program's effort, and against the row's own. For core
 * and shared idleness the effort is the one with that idleness, for rank idleness the one with the other ranks' time in the
 * place of the own that they are blamed for; samples are compared with all samples. */
double metric_absolute(const struct rows *rows, const struct profile_sums *sums, enum metric metric);
double metric_relative(const struct rows *rows, const struct profile_sums *sums, enum metric metric);
/* The same as CSV files have it: of the METRIC_ORDER of `of`. */
double metric_of_order(const struct rows *rows, const struct profile_sums *sums, enum metric metric,
                       const struct profile_sums *of);

/* The same of a row, and also of what its counters counted: of these relative per cent are absolute ones. */
double row_value(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric);
double row_absolute(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric);
double row_relative(const struct rows *rows, const struct row *row, bool exclusive, enum metric metric);
/* Returns what absolute per cent of a metric or counter are of. */
double rows_whole_value(const struct rows *rows, enum metric metric);
/* Returns a metric's title, or a counter's name as the user gave it. */
const char *rows_metric_title(const struct rows *rows, enum metric metric);
/* Finds a metric by its word, or a counter of the rows by its name. */
bool rows_find_metric(const struct rows *rows, const char *name, size_t bytes, enum metric *metric);
/* Returns all words and names that rows_find_metric() finds, as a list for messages; malloc'ed. */
char *rows_metric_names(const struct rows *rows);

/* What is shown where no metric is asked for: blame, or work where there is hardly any. */
enum metric metric_default(const struct rows *rows);

#endif
