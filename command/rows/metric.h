/* What a row can be measured by: docs/accounting.md derives it. */
#ifndef BLAME_COMMAND_ROWS_METRIC_H
#define BLAME_COMMAND_ROWS_METRIC_H

#include "command/rows/row.h"

/* All that is said of a metric, once: the columns of every file, the page, the exports, options and their help are made
 * from it; metric.c has what each is computed from. METRIC(NAME, word of options, title of columns and headings, unit, what
 * it is; unit "" for a number of samples). Those up to METRIC_COLUMNS have columns in data. */
#define METRIC_TABLE(METRIC)                                                                                           \
    METRIC(IDLENESS, "idleness", "idleness", "s",                                                                      \
           "Time of idle threads that this context is blamed for") /* in a shared environment shared idleness */       \
    METRIC(WORK, "work", "work", "s", "Time in which threads worked")                                                  \
    METRIC(OVERHEAD, "overhead", "overhead", "s", "Time that threads spent in the runtime on its own affairs")         \
    METRIC(LOCK_WAIT, "lock-wait", "lock wait", "s", "Time in which others waited for locks that were held here")      \
    METRIC(LOCK_WAIT_HERE, "lock-wait-here", "lock wait here", "s",                                                    \
           "Time in which this context waited for locks, a part of what lock wait charges to holders")                 \
    METRIC(CORE_IDLENESS, "core-idleness", "core idleness", "s", "Idleness of cores instead of threads")               \
    METRIC(SHARED_IDLENESS, "shared-idleness", "shared idleness", "s",                                                 \
           "Idleness as threads in other programs' company have it")                                                   \
    METRIC(SAMPLES, "samples", "samples", "", "Samples taken")                                                         \
    METRIC(NO_CORE, "no-core", "no core", "s", "Time in which busy threads were ready to run and had no core")         \
    METRIC(BLOCKED, "blocked", "blocked", "s", "Time in which busy threads slept outside of OpenMP's waits")           \
    METRIC(MPI_WAIT, "mpi-wait", "mpi wait", "s", "Time in calls of MPI's that may wait for other ranks")              \
    METRIC(RANK_IDLENESS, "rank-idleness", "rank idleness", "s",                                                       \
           "Time in which other ranks waited in MPI, by who made them wait")                                           \
    METRIC(BLAME, "blame", "blame", "s", "What others lost by it: idleness + overhead + lock wait")

enum metric {
#define METRIC(name, word, title, unit, about) METRIC_##name,
    METRIC_TABLE(METRIC)
#undef METRIC
        METRIC_NAMED,
    METRIC_COLUMNS = METRIC_BLAME,
    METRIC_THREAD_IDLENESS = METRIC_NAMED,
    METRIC_EFFORT,  /* the sum of metric_parts */
    METRIC_ORDER,   /* the same of those that always have a value: what rows are in the order of */
    METRIC_COUNTER, /* the first of the rows' counters; the others follow */
};

extern const char *const metric_word[METRIC_NAMED + 1]; /* as options take them; NULL behind the last */
extern const char *const metric_unit[METRIC_NAMED];
/* As columns and headings have it: "lock wait"; "effort". No counter's. */
const char *metric_title(enum metric metric);
const char *metric_about(enum metric metric); /* what it is, in a line without a full stop */

#define METRIC_FIRST_COLUMNS (METRIC_COLUMNS - 4) /* profile.csv has the others behind all that came before them */
extern const enum metric metric_columns[METRIC_COLUMNS]; /* in the order of files */
#define METRIC_PARTS 7
#define METRIC_TOLD                                                                                                    \
    8 /* with rank idleness, which is other ranks' time: a part of the effort where they are in it, as their mpi wait */
#define METRIC_ALWAYS_PARTS 4 /* the first of them, which are shown whatever their value is */
#define METRIC_BLAME_PARTS  3
/* Of effort: work, idleness, overhead, lock wait; no core, blocked, mpi wait. Behind them what is told of as well. */
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
