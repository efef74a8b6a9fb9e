/* What a row can be measured by: docs/accounting.md derives it. */
#ifndef BLAME_REPORT_ROWS_METRIC_H
#define BLAME_REPORT_ROWS_METRIC_H

#include "report/rows/row.h"

/* What a row can be measured and sorted by; seconds, or a number of samples. */
enum metric {
    METRIC_IDLENESS, /* thread idleness, or shared idleness in a shared environment */
    METRIC_WORK,
    METRIC_OVERHEAD,
    METRIC_LOCK_WAIT,
    METRIC_LOCK_WAIT_HERE,
    METRIC_CORE_IDLENESS,
    METRIC_SHARED_IDLENESS,
    METRIC_SAMPLES,
    METRIC_COLUMNS,                 /* the metrics above have columns in data */
    METRIC_BLAME = METRIC_COLUMNS, /* what others lost by it: idleness + overhead + lock wait */
    METRIC_NAMED,                   /* the metrics above have names */
    METRIC_THREAD_IDLENESS = METRIC_NAMED,
    METRIC_EFFORT, /* work + idleness + overhead + lock wait */
};

extern const char *const metric_name[METRIC_NAMED + 1]; /* as --sort takes them; NULL behind the last */

#define METRIC_BLAME_PARTS 3
extern const enum metric metric_blame_part[METRIC_BLAME_PARTS];

/* Value of one metric of a row's inclusive or exclusive metrics. [init] */
double metric_value(const struct rows *rows, const struct profile_metric *sums, enum metric metric);
/* LMF13 eq. 2 in percent, 0 ... 100: against the whole program's effort, and against the row's own. For core
 * and shared idleness the effort is the one with that idleness; samples are compared with all samples. [init]
 */
double metric_absolute(const struct rows *rows, const struct profile_metric *sums, enum metric metric);
double metric_relative(const struct rows *rows, const struct profile_metric *sums,
                        enum metric metric); /* [init] */

/* What is shown where no metric is asked for: idleness, or work where nothing idles. [init] */
enum metric metric_default(const struct rows *rows);

#endif
