/* What a row can be measured by: docs/accounting.md derives it. */
#ifndef BLAME_REPORT_ROWS_MEASURE_H
#define BLAME_REPORT_ROWS_MEASURE_H

#include "report/rows/row.h"

/* What a row can be measured and sorted by; seconds, or a number of samples. */
enum measure {
    MEASURE_IDLENESS, /* thread idleness, or shared idleness in a shared environment */
    MEASURE_WORK,
    MEASURE_OVERHEAD,
    MEASURE_LOCK_WAIT,
    MEASURE_LOCK_WAIT_HERE,
    MEASURE_CORE_IDLENESS,
    MEASURE_SHARED_IDLENESS,
    MEASURE_SAMPLES,
    MEASURE_COLUMNS,                 /* the measures above have columns in data */
    MEASURE_BLAME = MEASURE_COLUMNS, /* what others lost by it: idleness + overhead + lock wait */
    MEASURE_NAMED,                   /* the measures above have names */
    MEASURE_THREAD_IDLENESS = MEASURE_NAMED,
    MEASURE_EFFORT, /* work + idleness + overhead + lock wait */
};

extern const char *const measure_name[MEASURE_NAMED + 1]; /* as --sort takes them; NULL behind the last */

#define MEASURE_BLAME_PARTS 3
extern const enum measure measure_blame_part[MEASURE_BLAME_PARTS];

/* Value of one measure of a row's inclusive or exclusive metrics. [init] */
double measure_value(const struct rows *rows, const struct profile_metric *metric, enum measure measure);
/* LMF13 eq. 2 in percent, 0 ... 100: against the whole program's effort, and against the row's own. For core
 * and shared idleness the effort is the one with that idleness; samples are compared with all samples. [init]
 */
double measure_absolute(const struct rows *rows, const struct profile_metric *metric, enum measure measure);
double measure_relative(const struct rows *rows, const struct profile_metric *metric,
                        enum measure measure); /* [init] */

/* What is shown where no measure is asked for: idleness, or work where nothing idles. [init] */
enum measure measure_default(const struct rows *rows);

#endif
