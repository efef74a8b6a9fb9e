#include "tests/unit/unit.h"

#include <math.h>

#include "command/compare/statistics.h"

UNIT_TEST(medians_need_no_order)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
    assert_true(statistics_median(odd, 3) == 2);
    assert_true(statistics_median(even, 4) == 2.5);
    assert_true(statistics_median(NULL, 0) == 0);
}

/* From tables of the binomial distribution. */
UNIT_TEST(intervals_hold_the_median_as_often_as_they_say)
{
    double value[20];
    const struct {
        size_t count, low, high;
        double coverage;
    } cases[] = {{1, 0, 0, 0},        {2, 0, 1, 0.5},      {3, 0, 2, 0.75},      {6, 0, 5, 0.96875},
                 {8, 0, 7, 0.992188}, {9, 1, 7, 0.960938}, {20, 5, 14, 0.958611}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t v = 0; v < cases[i].count; v++)
            value[v] = (double)(cases[i].count - 1 - v);
        struct statistics_interval interval = statistics_interval_of(value, cases[i].count);
        assert_true(interval.low == (double)cases[i].low && interval.high == (double)cases[i].high);
        assert_true(fabs(interval.coverage - cases[i].coverage) < 1e-6);
    }
}

/* One-sided critical values of Mann and Whitney's U at 5 %, as printed in tables: U itself is significant, so
 * as many pairs and one more are beyond the bound. */
UNIT_TEST(ranks_are_those_of_the_tables)
{
    const size_t cases[][3] = {{1, 1, 0}, {2, 2, 0},  {2, 5, 1}, {3, 3, 1},    {3, 5, 2},    {4, 4, 2},
                               {5, 5, 5}, {1, 19, 1}, {7, 6, 9}, {10, 10, 28}, {20, 20, 139}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(statistics_rank(cases[i][0], cases[i][1]), cases[i][2]);
        assert_int_equal(statistics_rank(cases[i][1], cases[i][0]), cases[i][2]);
    }
    assert_false(statistics_repeated(1, 1));
    assert_true(statistics_repeated(3, 3));
    assert_int_equal(statistics_rank(0, 3), 0);
    size_t exact = statistics_rank(64, 64), beyond = statistics_rank(64, 65);
    assert_true(beyond > exact && beyond < exact + 64);
}

static struct statistics_change change(const double *before, size_t n, const double *after, size_t m, double variance,
                                       double factor)
{
    double pair[64 * 64], variances[64];
    for (int i = 0; i < 64; i++)
        variances[i] = variance;
    const struct statistics_side a = {before, variances, n}, b = {after, variances, m};
    return statistics_change_of(&a, &b, factor, pair);
}

UNIT_TEST(single_runs_are_as_sure_as_their_samples)
{
    struct statistics_change sure = change((double[]){10}, 1, (double[]){12}, 1, 0, 1);
    assert_true(sure.low == 2 && sure.high == 2);
    struct statistics_change sampled = change((double[]){10}, 1, (double[]){12}, 1, 0.5, 1);
    assert_true(fabs(sampled.low + 1) < 1e-12 && fabs(sampled.high - 5) < 1e-12);
    struct statistics_change scaled = change((double[]){10}, 1, (double[]){12}, 1, 0, 1.1);
    assert_true(fabs(scaled.low - 1) < 1e-12);
}

UNIT_TEST(three_runs_a_side_differ_when_they_do_not_overlap)
{
    const double low[] = {1.0, 1.2, 1.1}, high[] = {1.5, 1.3, 1.4}, between[] = {1.15, 1.3, 1.4};
    assert_true(change(low, 3, high, 3, 100, 1).low > 0);
    assert_true(change(low, 3, between, 3, 100, 1).low < 0);
    assert_true(change(high, 3, low, 3, 100, 1).high < 0);
}

/* The bound is what it promises: equal distributions, exceeded in at most 5 % of many trials. */
UNIT_TEST(equal_programs_are_told_apart_in_one_of_twenty)
{
    uint64_t seed = 4101842887655102017u;
    int wrong = 0, trials = 20000;
    for (int trial = 0; trial < trials; trial++) {
        double value[10];
        for (int i = 0; i < 10; i++)
            value[i] = (double)(unit_random(&seed) >> 11);
        wrong += change(value, 5, value + 5, 5, 0, 1).low > 0;
    }
    assert_true(wrong < 0.05 * trials && wrong > 0.035 * trials); /* 12 of 252 arrangements: 4.8 % */
}

UNIT_MAIN(NULL, NULL)
