/* By how much sampling can have put a number off: docs/accounting.md (What is stated) derives it. Every +- that a
 * report prints or judges by comes from here. */
#ifndef BLAME_COMMAND_ROWS_ERROR_H
#define BLAME_COMMAND_ROWS_ERROR_H

#include "command/profile/profile.h"
#include "command/rows/metric.h"

#define ERROR_DEVIATIONS 1.96 /* of what is stated: 95 % */
#define ERROR_NEVER      4.0  /* of what chance does not explain */

struct error_terms error_terms_of(const struct profile *profile);

/* A metric's variance in figures, so that others than C can have it of the values that they add up (docs/format.md):
 *   few rain / alone + min(rain, together max(0, rain - value^2 / all))        without the last term where all is 0
 *   rain = max(0, alone - beside idle_beside),  alone = |each value + own busy time|: were each thread busy alone
 * all: moments of all threads. As each period has one, what is always there has no error. */
struct error_form {
    double few, each, own, beside, all, together;
};

struct error_form error_form_of(const struct error_terms *terms, enum metric metric);

/* What is known of the same code beside a value, in seconds (events). */
struct error_basis {
    double own;         /* busy time: for core idleness, which may be a small difference of large sums */
    double idle_beside; /* of its idleness: struct profile_metric */
};

#define ERROR_ALONE ((struct error_basis){0}) /* nothing is: each sample's thread may have been busy alone */

struct error_basis error_basis_of(const struct profile_sums *sums);
void error_basis_add(struct error_basis *to, struct error_basis from);

/* From above, in squares of the value's unit, of a value in seconds (events; samples: their number). */
double error_variance(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis);

/* The stated error: 95 % of all values are so close to the truth. Of a value, and of a row's metric. */
double error_of(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis);
double metric_error(const struct rows *rows, const struct profile_sums *sums, enum metric metric);

#endif
