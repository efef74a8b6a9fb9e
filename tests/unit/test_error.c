#include <math.h>

#include "report/rows/error.h"
#include "tests/unit/unit.h"

#define PERIOD 0.005

static struct error_terms terms_of(double threads, double lifetime)
{
    return (struct error_terms){.period = PERIOD, .lifetime = lifetime, .threads = threads, .cores = 2};
}

/* How often the interval around what was seen has the truth in it; `ways` are the chances of each number of samples. */
static double covered(const struct error_terms *terms, const double *ways, size_t count, double truth)
{
    double sum = 0;
    for (size_t n = 0; n < count; n++)
        if (fabs((double)n * PERIOD - truth) <= error_of(terms, METRIC_WORK, (double)n * PERIOD, 0))
            sum += ways[n];
    return sum;
}

/* Visits much shorter than a period in a life of which they are hardly a part: samples come like rain. */
UNIT_TEST(of_short_visits_95_percent_are_inside_however_few_samples_they_have)
{
    const struct error_terms terms = terms_of(1, 0);
    double ways[500];
    for (double mean = 0.1; mean < 200; mean *= 1.05) {
        ways[0] = exp(-mean);
        for (size_t n = 1; n < 500; n++)
            ways[n] = ways[n - 1] * mean / (double)n;
        double share = covered(&terms, ways, 500, mean * PERIOD);
        assert_true(share >= 0.93 && (share < 0.97 || mean < 20));
    }
}

/* The same part of each of 1,000 periods, of one thread. */
UNIT_TEST(what_is_most_of_a_life_is_known_better)
{
    const struct error_terms terms = terms_of(1, 1000 * PERIOD);
    double ways[1001];
    for (double part = 0.02; part < 0.985; part += 0.02) {
        for (size_t n = 0; n <= 1000; n++)
            ways[n] = exp(lgamma(1001) - lgamma((double)n + 1) - lgamma(1001 - (double)n) +
                          (double)n * log(part) + (1000 - (double)n) * log(1 - part));
        double share = covered(&terms, ways, 1001, 1000 * part * PERIOD);
        assert_true(share >= 0.93 && share < 0.98);
    }
    double always = error_of(&terms, METRIC_WORK, 1000 * PERIOD, 0);
    assert_true(always > 0 && always < 3 * PERIOD);
}

UNIT_TEST(a_moment_adds_as_much_as_all_others_can_idle)
{
    struct error_terms terms = terms_of(9, 0);
    double work = error_variance(&terms, METRIC_WORK, 1, 0),
           idleness = error_variance(&terms, METRIC_IDLENESS, 8, 0);
    assert_true(fabs(idleness / work - 64) < 1e-9); /* eight threads that idle beside each of its samples */
    assert_true(error_variance(&terms, METRIC_BLAME, 1, 0) > error_variance(&terms, METRIC_IDLENESS, 1, 0));
    assert_true(
        fabs(error_of(&terms, METRIC_SAMPLES, 200, 0) * PERIOD - error_of(&terms, METRIC_WORK, 1, 0)) < 1e-9);
    terms.threads = 1;
    assert_true(error_of(&terms, METRIC_IDLENESS, 0, 0) == 0);
}

/* 2 s alone on two cores, 3 s of each of nine threads there: what they add cancels, its error does not. */
UNIT_TEST(core_idleness_is_a_difference)
{
    const struct error_terms terms = terms_of(9, 0);
    double down = 7.0 / 9, value = 2 - 27 * down, own = 2 + 27, floor = 2 * PERIOD * PERIOD;
    double variance = error_variance(&terms, METRIC_CORE_IDLENESS, value, own);
    assert_true(fabs(variance - PERIOD * (2 + 27 * down * down) - floor) < 1e-9);
}

/* Threads that avoid each other's moments can have a third more variance than each by itself, never more than rain. */
UNIT_TEST(threads_that_draw_together_get_room_for_it)
{
    const struct error_terms one = terms_of(1, 10), two = terms_of(2, 10);
    const double floor = error_variance(&one, METRIC_WORK, 0, 0), rain = PERIOD * 8, binomial = rain * 0.2;
    assert_true(fabs(error_variance(&one, METRIC_WORK, 8, 0) - floor - binomial) < 1e-12);
    assert_true(fabs(error_variance(&two, METRIC_WORK, 8, 0) - floor - binomial * 4 / 3) < 1e-12);
    assert_true(fabs(error_variance(&two, METRIC_WORK, 1, 0) - floor - PERIOD) < 1e-12);
}

UNIT_MAIN(NULL, NULL)
