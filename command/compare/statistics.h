/* Numbers of a few runs: medians, and between which limits the truth lies. Nothing is assumed about how runs
 * scatter; docs/reading-a-report.md says what that costs. */
#ifndef BLAME_COMMAND_COMPARE_STATISTICS_H
#define BLAME_COMMAND_COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#define STATISTICS_RUNS 256 /* most runs of one side */

/* value is sorted by this. */
double statistics_median(double *value, size_t count);

/* Of the median, from the ranks of the values. */
struct statistics_interval {
    double low, high;
    double coverage; /* of 1: 0.95 or more when there are six values, less with fewer, 0 with one */
};

/* value is sorted by this. */
struct statistics_interval statistics_interval_of(double *value, size_t count);

/* Values of the same quantity on both sides, and the variance that sampling gave each. */
struct statistics_side {
    const double *value, *variance;
    size_t count;
};

/* Bounds of `after - factor * before`: each is exceeded by chance in at most one of 20 comparisons of equal
 * programs, if statistics_repeated(); otherwise three standard errors of sampling around all pairs. */
struct statistics_change {
    double low, high;
};

/* pair: room for before->count * after->count. */
struct statistics_change statistics_change_of(const struct statistics_side *before, const struct statistics_side *after,
                                              double factor, double *pair);

/* Whether so many runs of each side tell how runs scatter: then the test of Mann and Whitney can find a
 * difference at the 5 % level. Three and three do. */
bool statistics_repeated(size_t before, size_t after);

/* The number of pairs that may lie on the wrong side of a bound, for bounds at the 5 % level; 0: there is no
 * such bound. */
size_t statistics_rank(size_t before, size_t after);

#endif
