/* Statistics of a few runs: medians, and bounds on the true values. They assume no distribution of the runs'
 * values. docs/reading-a-report.md says what this costs. */
#ifndef BLAME_COMMAND_COMPARE_STATISTICS_H
#define BLAME_COMMAND_COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#define STATISTICS_RUNS 256 /* maximum number of runs of one side */

/* Returns the median of the values, which it sorts. */
double statistics_median(double *value, size_t count);

/* Confidence interval of the median. Its ends are two of the values. */
struct statistics_interval {
    double low, high;
    /* probability, 0 to 1, that the median is in the interval: at least 0.95 for six or more values, less for
     * fewer, 0 for one */
    double coverage;
};

/* Returns the confidence interval of the values' median. Sorts the values. */
struct statistics_interval statistics_interval_of(double *value, size_t count);

/* The values of one side, and the sampling variance of each value. */
struct statistics_side {
    const double *value, *variance;
    size_t count;
};

/* Bounds on `after - factor * before`. If statistics_repeated() is true and the programs are equal, chance
 * goes beyond each bound in at most one of 20 comparisons. If it is false, the bounds are three standard
 * errors of sampling beyond the extreme pairs. */
struct statistics_change {
    double low, high;
};

/* Returns the bounds. pair: working space for before->count * after->count values. */
struct statistics_change statistics_change_of(const struct statistics_side *before, const struct statistics_side *after,
                                              double factor, double *pair);

/* Returns whether there are enough runs to show how much runs vary, so that the Mann-Whitney test can find a
 * difference at the 5 % level. Three runs on each side are enough. */
bool statistics_repeated(size_t before, size_t after);

/* Returns how many of the pairs may lie beyond a bound at the 5 % level; 0 if no bound reaches that level. */
size_t statistics_rank(size_t before, size_t after);

#endif
