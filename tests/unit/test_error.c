#include <math.h>

#include "command/rows/error.h"
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
        if (fabs((double)n * PERIOD - truth) <= error_of(terms, METRIC_WORK, (double)n * PERIOD, ERROR_ALONE))
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
            ways[n] = exp(lgamma(1001) - lgamma((double)n + 1) - lgamma(1001 - (double)n) + (double)n * log(part) +
                          (1000 - (double)n) * log(1 - part));
        double share = covered(&terms, ways, 1001, 1000 * part * PERIOD);
        assert_true(share >= 0.93 && share < 0.98);
    }
    double always = error_of(&terms, METRIC_WORK, 1000 * PERIOD, ERROR_ALONE);
    assert_true(always > 0 && always < 3 * PERIOD);
}

UNIT_TEST(a_moment_adds_as_much_as_all_others_can_idle)
{
    struct error_terms terms = terms_of(9, 0);
    double work = error_variance(&terms, METRIC_WORK, 1, ERROR_ALONE),
           idleness = error_variance(&terms, METRIC_IDLENESS, 8, ERROR_ALONE);
    assert_true(fabs(idleness / work - 64) < 1e-9); /* eight threads that idle beside each of its samples */
    assert_true(error_variance(&terms, METRIC_BLAME, 1, ERROR_ALONE) >
                error_variance(&terms, METRIC_IDLENESS, 1, ERROR_ALONE));
    assert_true(fabs(error_of(&terms, METRIC_SAMPLES, 200, ERROR_ALONE) * PERIOD -
                     error_of(&terms, METRIC_WORK, 1, ERROR_ALONE)) < 1e-9);
    terms.threads = 1;
    assert_true(error_of(&terms, METRIC_IDLENESS, 0, ERROR_ALONE) == 0);
}

#define THREADS 9

/* So many seconds of each number of busy threads, of THREADS. */
struct busy_times {
    double of[THREADS + 1];
};

/* Sum of p w^2 over the samples, w = capacity / b - 1 + more; and what reports know of them. */
static double squares_of(const struct busy_times *times, double capacity, double more, double *value,
                         struct error_basis *basis)
{
    double squares = 0;
    *value = 0;
    *basis = (struct error_basis){0};
    for (int busy = 1; busy <= THREADS; busy++) {
        double b = busy, seconds = b * times->of[busy], weight = capacity / b - 1 + more;
        *value += seconds * weight;
        squares += seconds * weight * weight;
        error_basis_add(basis,
                        (struct error_basis){.own = seconds, .idle_beside = seconds * (THREADS / b - 1) * (1 - 1 / b)});
    }
    return squares;
}

/* Of idleness and core idleness, be there fewer cores than threads, as many or more, the variance of rain is the sum of
 * squares itself, whatever the sign: what cancels in a difference does not cancel in its error. */
UNIT_TEST(idleness_is_known_as_well_as_the_threads_beside_it)
{
    static const struct busy_times times[] = {{.of = {[1] = 2}},          {.of = {[3] = 4}},
                                              {.of = {[1] = 2, [3] = 4}}, {.of = {[9] = 3}},
                                              {.of = {[1] = 2, [9] = 3}}, {.of = {[1] = 1, [2] = 1, [4] = 1, [8] = 1}}};
    struct error_terms terms = terms_of(THREADS, 0);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        for (terms.cores = 2; terms.cores < 14; terms.cores++)
            for (int cores = 0; cores < 2; cores++) {
                double capacity = cores ? terms.cores : THREADS, value;
                struct error_basis basis;
                enum metric metric = cores ? METRIC_CORE_IDLENESS : METRIC_IDLENESS;
                double squares = squares_of(&times[i], capacity, 0, &value, &basis);
                double most = fmax(capacity - 1, 1 - capacity / THREADS), unseen = 2 * pow(PERIOD * most, 2),
                       variance = error_variance(&terms, metric, value, basis);
                assert_true(variance >= PERIOD * squares - 1e-12 && variance <= PERIOD * squares + unseen + 1e-12);
                assert_true(variance <
                            error_variance(&terms, metric, value, (struct error_basis){.own = basis.own}) + 1e-12);
            }
}

/* A sample of a thread that is alone on C cores adds C - 1 periods, and one while no thread runs C. */
UNIT_TEST(without_a_team_core_idleness_is_as_uncertain_as_its_largest_share)
{
    struct error_terms terms = terms_of(4, 0);
    terms.cores = 8;
    terms.without_team = true;
    double variance = error_variance(&terms, METRIC_CORE_IDLENESS, 7, (struct error_basis){.own = 1, .idle_beside = 1});
    assert_true(variance >= PERIOD * 7 * 7 && variance <= PERIOD * 7 * 8 + 2 * pow(PERIOD * 8, 2));
}

/* Two samples may have been missed: two of those whose mean the others are. */
UNIT_TEST(few_samples_beside_many_threads_are_believed_as_what_they_are)
{
    const struct error_terms terms = terms_of(9, 0);
    struct error_basis basis;
    double value, squares = squares_of(&(struct busy_times){.of = {[3] = 0.01}}, 9, 0, &value, &basis);
    double variance = error_variance(&terms, METRIC_IDLENESS, value, basis);
    /* each weighs 2, 8 at most */
    assert_true(fabs(variance - PERIOD * squares - 2 * PERIOD * PERIOD * 8 * 2) < 1e-12);
}

UNIT_TEST(blame_is_known_better_beside_others_too)
{
    const struct error_terms terms = terms_of(9, 0);
    struct error_basis basis;
    double value, squares = squares_of(&(struct busy_times){.of = {[1] = 2, [3] = 4}}, 9, 1, &value, &basis);
    double known = error_variance(&terms, METRIC_BLAME, value, basis);
    assert_true(known >= PERIOD * squares && known < error_variance(&terms, METRIC_BLAME, value, ERROR_ALONE));
}

/* It can be one only by rounding, or in a file that somebody wrote: as far off as its amount. */
UNIT_TEST(a_sum_that_cannot_be_negative_has_the_error_of_its_amount)
{
    struct error_terms terms = terms_of(9, 0);
    terms.cores = 9;
    assert_true(error_of(&terms, METRIC_IDLENESS, -3, ERROR_ALONE) ==
                error_of(&terms, METRIC_IDLENESS, 3, ERROR_ALONE));
    assert_true(error_of(&terms, METRIC_CORE_IDLENESS, -3, ERROR_ALONE) ==
                error_of(&terms, METRIC_CORE_IDLENESS, 3, ERROR_ALONE));
}

/* Threads that avoid each other's moments can have a third more variance than each by itself, never more than rain. */
UNIT_TEST(threads_that_draw_together_get_room_for_it)
{
    const struct error_terms one = terms_of(1, 10), two = terms_of(2, 10);
    const double floor = error_variance(&one, METRIC_WORK, 0, ERROR_ALONE), rain = PERIOD * 8, binomial = rain * 0.2;
    assert_true(fabs(error_variance(&one, METRIC_WORK, 8, ERROR_ALONE) - floor - binomial) < 1e-12);
    assert_true(fabs(error_variance(&two, METRIC_WORK, 8, ERROR_ALONE) - floor - binomial * 4 / 3) < 1e-12);
    assert_true(fabs(error_variance(&two, METRIC_WORK, 1, ERROR_ALONE) - floor - PERIOD) < 1e-12);
}

/* Ten seconds of work in visits of one second, by three threads: the whole has the variance of its ends, and so has code
 * that is all of it. Code that is half of it is known no better than if it were half of each visit. */
UNIT_TEST(what_neighbouring_samples_say_replaces_the_time_of_all_threads)
{
    const double ends = 20 * PERIOD * PERIOD / 6;
    struct merged_node node = {.kind = PROFILE_NODE_FRAME, .metric = {.work = 10e9}};
    struct profile_thread threads[3] = {{.last_ns = 20000000000}, {.last_ns = 20000000000}, {.last_ns = 20000000000}};
    struct profile profile = {.header = {.rate = 200, .period_ns = 5000000, .threads_max = 3, .cores = 3},
                              .nodes = &node,
                              .node_count = 1,
                              .threads = threads,
                              .thread_count = 3,
                              .has_variance = {true}};
    profile.variance[PROFILE_NEIGHBOURS_WORK] = 1e18 * ends;
    struct error_terms terms = error_terms_of(&profile), bound = error_terms_bound(&terms);
    double unseen = 2 * PERIOD * PERIOD, all = error_variance(&terms, METRIC_WORK, 10, ERROR_ALONE),
           half = error_variance(&terms, METRIC_WORK, 5, ERROR_ALONE), left = (5 * PERIOD + ends / 2) / 2;
    assert_true(fabs(all - unseen / 6 - ends) < 1e-12);
    assert_true(fabs(half - unseen * left / (5 * PERIOD) - left) < 1e-9);
    profile.has_variance[0] = false; /* an older file */
    terms = error_terms_of(&profile);
    assert_true(error_variance(&terms, METRIC_WORK, 10, ERROR_ALONE) ==
                error_variance(&bound, METRIC_WORK, 10, ERROR_ALONE));
    assert_true(error_variance(&bound, METRIC_WORK, 10, ERROR_ALONE) > 50 * ends);
}

/* A tenth of the work is one visit, the rest is short visits. */
UNIT_TEST(a_row_has_the_variance_of_its_own_samples)
{
    struct merged_node node = {.kind = PROFILE_NODE_FRAME, .metric = {.work = 10e9}};
    struct profile_thread thread = {.last_ns = 20000000000};
    struct profile profile = {.header = {.rate = 200, .period_ns = 5000000, .threads_max = 1, .cores = 1},
                              .nodes = &node,
                              .node_count = 1,
                              .threads = &thread,
                              .thread_count = 1,
                              .has_variance = {true}};
    profile.variance[PROFILE_NEIGHBOURS_WORK] = 1e18 * 4 * PERIOD;
    struct error_terms terms = error_terms_of(&profile);
    struct profile_sums sums = {.work = 1e9};
    double independent = error_variance(&terms, METRIC_WORK, 1, error_basis_of(&sums));
    sums.beyond[PROFILE_NEIGHBOURS_WORK] = (float)(-1e18 * (PERIOD - PERIOD * PERIOD / 3));
    struct error_basis basis = error_basis_of(&sums);
    double visit = error_variance(&terms, METRIC_WORK, 1, basis);
    assert_true(independent > 0.9 * PERIOD && fabs(visit - PERIOD * PERIOD * 2 / 3) < 1e-8);
    error_basis_add(&basis, basis);
    assert_true(error_variance(&terms, METRIC_WORK, 2, basis) < 3 * visit);
    struct error_terms bound = error_terms_bound(&terms);
    assert_true(error_variance(&bound, METRIC_WORK, 1, basis) > independent);
}

/* One thread works for ten seconds without a pause, another in short visits: what is known of each of them holds for the rows
 * that it alone has, and for rows of both the whole program's. */
UNIT_TEST(a_row_of_one_thread_has_the_variance_of_its_samples)
{
    enum { EVEN = 1, SHORT = 2 };
    struct merged_node node = {.kind = PROFILE_NODE_FRAME, .metric = {.work = 12e9, .trees = 1 << EVEN | 1 << SHORT}};
    struct profile_thread threads[2] = {{.last_ns = 10000000000, .tree = EVEN},
                                        {.last_ns = 10000000000, .tree = SHORT}};
    struct profile_tree_set sets[PROFILE_TREE_SETS] = {[EVEN].sums.work = 10e9, [SHORT].sums.work = 2e9};
    struct profile profile = {.header = {.rate = 200, .period_ns = 5000000, .threads_max = 2, .cores = 2},
                              .nodes = &node,
                              .node_count = 1,
                              .threads = threads,
                              .thread_count = 2,
                              .has_variance = {true},
                              .tree_sets = sets};
    profile.variance[PROFILE_NEIGHBOURS_WORK] = sets[SHORT].variance[PROFILE_NEIGHBOURS_WORK] = 1e18 * 1.5 * PERIOD;
    struct error_terms terms = error_terms_of(&profile);
    double unseen = 2 * PERIOD * PERIOD, whole = error_variance(&terms, METRIC_WORK, 10, ERROR_ALONE),
           even = error_variance(&terms, METRIC_WORK, 10, (struct error_basis){.trees = 1 << EVEN}),
           shorter = error_variance(&terms, METRIC_WORK, 2, (struct error_basis){.trees = 1 << SHORT}),
           both = error_variance(&terms, METRIC_WORK, 10, (struct error_basis){.trees = 1 << EVEN | 1 << SHORT});
    assert_true(fabs(even - unseen / 6) < 1e-7);
    assert_true(shorter > 1.5 * PERIOD && shorter < 1.6 * PERIOD);
    assert_true(both == whole && whole > 10 * even);
    assert_true(error_variance(&terms, METRIC_WORK, 10, (struct error_basis){.trees = ~0ull}) == whole);
    assert_true(error_variance(&terms, METRIC_OVERHEAD, 9.99, (struct error_basis){.trees = 1 << EVEN}) < PERIOD / 20);
    terms.waits = true; /* blame for waiting is booked elsewhere than it was found */
    assert_true(error_variance(&terms, METRIC_BLAME, 9, (struct error_basis){.trees = 1 << EVEN}) ==
                error_variance(&terms, METRIC_BLAME, 9, ERROR_ALONE));
    threads[1].tree = 0; /* an older file */
    terms = error_terms_of(&profile);
    assert_true(error_variance(&terms, METRIC_WORK, 10, (struct error_basis){.trees = 1 << EVEN}) == whole);
}

/* One of two threads works on two cores, then both: a row's core idleness may be as large as its error however small the
 * program's is. */
UNIT_TEST(core_idleness_has_the_variance_of_neighbours_for_the_number_of_cores)
{
    struct merged_node node = {.kind = PROFILE_NODE_FRAME, .metric = {.work = 10e9, .inverse_busy = 5e9}};
    struct profile_thread threads[2] = {{.last_ns = 5000000000}, {.last_ns = 5000000000}};
    struct profile profile = {.header = {.rate = 200, .period_ns = 5000000, .threads_max = 4, .cores = 2},
                              .nodes = &node,
                              .node_count = 1,
                              .threads = threads,
                              .thread_count = 2,
                              .has_variance = {true}};
    struct error_basis basis = {.own = 10};
    profile.variance[PROFILE_NEIGHBOURS_INVERSE_BUSY] = 3e14;
    profile.variance[PROFILE_NEIGHBOURS_BOTH] = 2e14;
    profile.variance[PROFILE_NEIGHBOURS_OWN] = 1e14;
    struct error_terms terms = error_terms_of(&profile);
    double all = error_variance(&terms, METRIC_CORE_IDLENESS, 0, basis);
    basis.own /= 10;
    double tenth = error_variance(&terms, METRIC_CORE_IDLENESS, 0, basis);
    /* thread idleness has 16 x 3e-4 - 4 x 2e-4 + 1e-4; a little may be unseen, of samples that add 1/2 to 1 */
    double expected = pow(0.5 * sqrt(41e-4) + 0.5 * sqrt(1e-4), 2);
    assert_true(all >= expected && all < expected * 1.05);
    assert_true(tenth > all);
}

UNIT_MAIN(NULL, NULL)
