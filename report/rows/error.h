/* By how much sampling can have put a number off: docs/accounting.md (What is stated) derives it. Every +- that a
 * report prints or judges by comes from here. */
#ifndef BLAME_REPORT_ROWS_ERROR_H
#define BLAME_REPORT_ROWS_ERROR_H

#include "report/rows/metric.h"

#define ERROR_DEVIATIONS 1.96 /* of what is stated: 95 % */
#define ERROR_NEVER      4.0  /* of what chance does not explain */

struct error_terms error_terms_of(const struct profile *profile);

/* A metric's variance in figures, so that others than C can have it of the values that they add up (docs/html-data.md):
 *   few + max(0, each value left + own busy time),  left = min(1, together max(0, 1 - value / all)), 1 if all is 0
 * left is what of rain's variance is left, as each period has one sample: what is always there has no error. */
struct error_form {
    double few, each, all, together, own;
};

struct error_form error_form_of(const struct error_terms *terms, enum metric metric);

/* From above, in squares of the value's unit, of a value in seconds (events; samples: their number). own: the busy
 * time of the same code; core idleness alone needs it, which may be a small difference of large sums. */
double error_variance(const struct error_terms *terms, enum metric metric, double value, double own);

/* The stated error: 95 % of all values are so close to the truth. Of a value, and of a row's metric. */
double error_of(const struct error_terms *terms, enum metric metric, double value, double own);
double metric_error(const struct rows *rows, const struct profile_sums *sums, enum metric metric);

#endif
