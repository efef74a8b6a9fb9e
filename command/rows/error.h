/* The sampling error of a number; docs/accounting.md ("What is stated") derives it. Every +- that a report
 * prints or decides by comes from here. */
#ifndef BLAME_COMMAND_ROWS_ERROR_H
#define BLAME_COMMAND_ROWS_ERROR_H

#include "command/profile/profile.h"
#include "command/rows/metric.h"

#define ERROR_DEVIATIONS 1.96 /* standard deviations in the stated error: 95 % */
#define ERROR_NEVER      4.0  /* standard deviations that chance does not explain */

struct error_terms error_terms_of(const struct profile *profile);

/* The coefficients of a metric's variance. The page computes errors of its own sums from them
 * (docs/format.md): *   few rain / alone + min(rain, together max(0, rain - value^2 / all))        without
 * the last term where all is 0 *   rain = max(0, alone - beside idle_beside),  alone = |each value + own busy
 * time|: if each thread was busy alone all: the number of samples that all threads had. Each period has one,
 * so code that always runs has no error. */
struct error_form {
    double few, each, own, beside, all, together;
};

struct error_form error_form_of(const struct error_terms *terms, enum metric metric);

/* Other sums of the same code as a value, in seconds (events). */
struct error_basis {
    double own;         /* busy time; core idleness needs it, which may be a small difference of large sums */
    double idle_beside; /* idle_beside of struct profile_metric */
};

/* no other sums are known: each sample's thread may have been busy alone */
#define ERROR_ALONE ((struct error_basis){0})

struct error_basis error_basis_of(const struct profile_sums *sums);
void error_basis_add(struct error_basis *to, struct error_basis from);

/* Returns an upper bound on the variance of a value in seconds (in events; as a number of samples), in
 * squares of its unit. */
double error_variance(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis);

/* Return the stated error of a value, and of a row's metric: 95 % of all values are that close to the truth. */
double error_of(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis);
double metric_error(const struct rows *rows, const struct profile_sums *sums, enum metric metric);

#endif
