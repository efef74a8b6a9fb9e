/* The sampling error of a value. docs/accounting.md derives the error ("What is stated"). Every +- that a
 * report prints or uses for a decision comes from here. */
#ifndef BLAME_COMMAND_ROWS_ERROR_H
#define BLAME_COMMAND_ROWS_ERROR_H

#include "command/profile/profile.h"
#include "command/rows/metric.h"

/* number of standard deviations in a stated error, which contain 95 % of all values */
#define ERROR_DEVIATIONS 1.96
#define ERROR_NEVER      4.0 /* number of standard deviations beyond which chance is no explanation */

struct error_terms error_terms_of(const struct profile *profile);
/* Returns terms whose errors are upper bounds, not estimates from neighbouring samples. Laws need them. */
struct error_terms error_terms_bound(const struct error_terms *terms);

/* The coefficients of a metric's variance. The page computes the errors of its own sums from them
 * (command/html/page/README.md). The variance of a value is
 *
 *     few max(left, ends rain) / alone + left
 *
 * with  left  = min(rain, together max(0, rain - even)),
 *       alone = |each value + own busy time|, the variance if each thread was busy alone,
 *       rain  = max(0, alone - beside idle_beside),
 *       even  = min(value^2 / all, rain^2 / rains).
 *
 * `all` is the number of periods in which time of this kind occurs. A term whose `all` or `rains` is 0 is left out; if both
 * are, `even` is 0. Each sampling period has one sample, so code that runs in all of them has no error. */
struct error_form {
    double few, each, own, beside, all, rains, ends, together;
};

struct error_form error_form_of(const struct error_terms *terms, enum metric metric);
/* Returns the coefficients for values of these trees only, whose `all` and `rains` are smaller if error_tells_trees(). */
struct error_form error_form_within(const struct error_terms *terms, enum metric metric, uint64_t trees);
bool error_tells_trees(const struct error_terms *terms, uint64_t trees);

/* Sums, in s or in events, of the same code as a value. The value's error depends on them. */
struct error_basis {
    /* busy time; core idleness needs it, because core idleness may be a small difference of large sums */
    double own;
    double idle_beside;                     /* the sum idle_beside of struct profile_metric */
    uint64_t trees;                         /* bit mask of the trees that had it (struct profile_sums); 0: unknown */
    double rank_squares, core_squares;      /* as in struct profile_sums; 0: unknown */
    double beyond[PROFILE_NEIGHBOURS_SUMS]; /* as in struct profile_sums; 0: unknown */
};

/* basis of a value for which these sums are unknown; assumes that each sampled thread was the only busy one */
#define ERROR_ALONE ((struct error_basis){0})

struct error_basis error_basis_of(const struct profile_sums *sums);
void error_basis_add(struct error_basis *to, struct error_basis from);

/* Returns an upper bound on the variance of a value. The value is in s, in events or in samples, and the
 * variance in squares of that unit. */
double error_variance(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis);

/* Returns by how much that is beyond the variance of independent samples because samples of a context come together, 0 if
 * unknown: with rain, as above, the variance of what is left is at most together max(0, rain + this). Sums of values have the
 * sum. */
double error_beyond(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis);

/* Return the stated error of a value, and of a row's metric. 95 % of all values differ from the truth by no
 * more than that. */
double error_of(const struct error_terms *terms, enum metric metric, double value, struct error_basis basis);
double metric_error(const struct rows *rows, const struct profile_sums *sums, enum metric metric);

#endif
