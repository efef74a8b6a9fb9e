/* Statistics of a few runs: medians and bounds for the truth. No distribution of the runs is assumed;
 * docs/reading-a-report.md says what that costs. */
#ifndef BLAME_COMMAND_COMPARE_STATISTICS_H
#define BLAME_COMMAND_COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#define STATISTICS_RUNS 256 /* most runs of one side */

/* Returns the median. Sorts value[]. */
double statistics_median(double *value, size_t count);

/* Confidence interval of the median, from the values' ranks. */
struct statistics_interval {
    double low, high;
    double coverage; /* probability, 0 to 1: at least 0.95 from six values on, less with fewer, 0 with one */
};

/* Returns the interval. Sorts value[]. */
struct statistics_interval statistics_interval_of(double *value, size_t count);

/* Values of one side, and the sampling variance of each. */
struct statistics_side {
    const double *value, *variance;
    size_t count;
};

/* Bounds of `after - factor * before`. If statistics_repeated(), chance exceeds each bound in at most one of
 * 20 comparisons of equal programs. Otherwise they are three standard errors of sampling beyond the extreme
 * pairs. */
struct statistics_change {
    double low, high;
};

/* Returns the bounds. pair: buffer for before->count * after->count values. */
struct statistics_change statistics_change_of(const struct statistics_side *before, const struct statistics_side *after,
                                              double factor, double *pair);

/* Returns whether there are enough runs to know how runs vary, so that the Mann-Whitney test can find a
 * difference at the 5 % level. Three and three are enough. */
bool statistics_repeated(size_t before, size_t after);

/* Returns how many pairs may lie beyond a bound at the 5 % level; 0 if there is no such bound. */
size_t statistics_rank(size_t before, size_t after);

#endif
