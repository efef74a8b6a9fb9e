/* Statistics of a few runs: medians, and bounds on the true values. They assume no distribution of the runs.
 * docs/reading-a-report.md says what that costs. */
#ifndef BLAME_COMMAND_COMPARE_STATISTICS_H
#define BLAME_COMMAND_COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#define STATISTICS_RUNS 256 /* maximum number of runs of one side */

/* Returns the median of the values, which it sorts. */
double statistics_median(double *value, size_t count);

/* Confidence interval of the median, whose ends are two of the values. */
struct statistics_interval {
    double low, high;
    /* probability that the median is in the interval, 0 to 1: at least 0.95 with six or more values, less
     * with fewer, 0 with one */
    double coverage;
};

/* Returns the interval. Sorts the values. */
struct statistics_interval statistics_interval_of(double *value, size_t count);

/* The values of one side, and the sampling variance of each value. */
struct statistics_side {
    const double *value, *variance;
    size_t count;
};

/* Bounds on `after - factor * before`. If statistics_repeated() is true, chance goes beyond each bound in at
 * most one of 20 comparisons of equal programs. Otherwise, the bounds are three standard errors of sampling
 * beyond the extreme pairs. */
struct statistics_change {
    double low, high;
};

/* Returns the bounds. pair: working space for before->count * after->count values. */
struct statistics_change statistics_change_of(const struct statistics_side *before, const struct statistics_side *after,
                                              double factor, double *pair);

/* Returns whether the runs are enough to show how much runs vary. The Mann-Whitney test can then find a
 * difference at the 5 % level. Three runs on each side are enough. */
bool statistics_repeated(size_t before, size_t after);

/* Returns how many pairs may lie beyond a bound at the 5 % level; 0 if no bound reaches that level. */
size_t statistics_rank(size_t before, size_t after);

#endif
