#include "cct/profile_format.h"
#include "tests/unit/unit.h"

#include <math.h>

#include "blame/account.h"

#define P 5e6 /* a sample of 5 ms */

static struct tree tree; /* without bins */

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-6)
        fail_msg("%.9f instead of %.9f", value, expected);
}

/* What is added up, and who is to blame: tests/simulator. */
UNIT_TEST(samples_and_waits_are_counted)
{
    const struct census two = {.busy = 2, .in_use = 2};
    const struct lock_blame blame = account_waiter(P, two);
    struct profile_metric metric = {0};
    account_busy(&metric, false, P, 1, two);
    account_busy(&metric, true, 3 * P, 3, two); /* with two overruns */
    assert_int_equal(metric.samples, 4);
    account_waiting_here(&metric, P, 1, true);
    account_waiting_here(&metric, P, 1, false);
    assert_int_equal(metric.samples, 6);
    assert_int_equal(metric.waits, 1);
    account_blame(&metric, &blame);
    assert_int_equal(metric.samples, 6); /* blame is no sample */
}

UNIT_TEST(a_census_without_busy_threads_counts_the_sampled_one)
{
    struct profile_metric metric = {0};
    account_busy(&metric, false, P, 1, (struct census){.busy = 0, .in_use = 0});
    assert_near(metric.inverse_busy, P);
    assert_near(metric.shared_idle, 0);
    account_busy(&metric, false, P, 1, (struct census){.busy = 3, .in_use = 2}); /* states of two moments */
    assert_near(metric.shared_idle, 0);                                          /* never negative */
}

/* Each of r running threads is sampled once in each period. */
UNIT_TEST(the_threads_that_run_share_the_cores_that_do_not)
{
    struct profile_cores one = {0}, three = {0}, more = {0};
    account_cores(&one, P, 1, 8);
    assert_near(one.idle, 7 * P);
    for (int i = 0; i < 3; i++)
        account_cores(&three, P, 3, 8);
    assert_near(three.idle, 5 * P);
    assert_near(three.beyond, 0);
    for (int i = 0; i < 3; i++)
        account_cores(&more, P, 3, 2);
    assert_near(more.idle, 0);
    assert_near(more.beyond, P);
}

UNIT_TEST(an_idle_moment_is_booked_by_what_the_thread_was)
{
    struct profile_thread ledger = {0};
    account_idle(&ledger, 1, false);
    account_idle(&ledger, 4, true);
    assert_near(ledger.idle, 5);
    assert_near(ledger.parked, 4);
    assert_near(ledger.idle_nobody_busy, 0);
    assert_int_equal(ledger.recorded, 0); /* counted when the sample was taken */
}

static struct delivery delivery_at(uint64_t first_ns, uint64_t last_ns, uint64_t handled_ns)
{
    return (struct delivery){.count = 1 + (last_ns > first_ns),
                             .p = P * (1 + (last_ns > first_ns)),
                             .due_ns = first_ns,
                             .census_ns = last_ns,
                             .clocks = {.ns = handled_ns, .ticks = handled_ns, .ns_per_tick = 1}};
}

static struct idle_moment told[DELIVERY_MOMENTS];

#define SINCE 1000000u /* the waits below begin here */

/* Idleness and dispatch of a wait that a delivery hit. */
static void assert_booked(struct delivery delivery, double idle, double dispatch)
{
    struct state_line line = {0};
    struct profile_thread ledger = {0};
    struct idle_sample sample = {0};
    state_set_idle(&line, SINCE);
    account_idle_hit(&ledger, &tree, &sample, &line, &delivery, told);
    assert_near(ledger.idle, idle);
    assert_near(sample.dispatch.overhead, dispatch);
    assert_near(sample.p, dispatch);
    assert_int_equal(sample.pending, dispatch > 0);
    assert_int_equal(state_is_hidden(&line), idle == 0);
}

/* However late its sample comes, and however long the wait goes on. */
UNIT_TEST(a_moment_within_the_grace_is_dispatch)
{
    uint64_t end = SINCE + STATE_GRACE_NS, last = end - 1;
    assert_booked(delivery_at(last, last, last + 30000), 0, P);
    assert_booked(delivery_at(end, end, end), P, 0);
    assert_booked(delivery_at(SINCE - 1000, SINCE - 1000, SINCE + 9000), 0,
                  P); /* it went idle after its timer was due */
}

/* The thread stood still from the first of them to the handler: that is nothing it waited. */
UNIT_TEST(two_moments_while_a_sample_is_delivered_are_of_the_same_wait)
{
    assert_booked(delivery_at(SINCE + 1000, SINCE + 21000, SINCE + 31000), 0, 2 * P);
}

UNIT_TEST(of_a_late_delivery_each_moment_counts_for_itself)
{
    struct delivery late = delivery_at(SINCE + 1000, SINCE + 1001000, SINCE + 1010000);
    assert_booked(late, P, P);
}

/* Of more moments than it asks at each stands for several, in all for as many as there are. */
UNIT_TEST(all_moments_of_a_late_delivery_are_counted)
{
    struct delivery late = delivery_at(SINCE + 1000, SINCE + 4000, SINCE + 1010000);
    struct state_line line = {0};
    struct profile_thread ledger = {0};
    struct idle_sample sample = {0};
    late.count = 2 * DELIVERY_MOMENTS + 5;
    late.p = P * (double)late.count;
    state_set_idle(&line, SINCE);
    account_idle_hit(&ledger, &tree, &sample, &line, &late, told);
    assert_int_equal(sample.count, late.count);
    assert_int_equal(sample.dispatch.samples, late.count);
    assert_near(sample.p, late.p);
}

/* A moment that comes while the one before it is handled, or soon after: the wait is no longer for that. */
UNIT_TEST(a_handler_is_no_waiting)
{
    struct state_line line = {0};
    struct profile_thread ledger = {0};
    struct idle_sample sample = {0};
    struct delivery delivery = delivery_at(SINCE + 1000, SINCE + 1000, SINCE + 31000);
    state_set_idle(&line, SINCE);
    account_idle_hit(&ledger, &tree, &sample, &line, &delivery, told);
    uint64_t before = clock_ticks();
    account_idle_resume(&sample, &line);
    assert_in_range(line.idle_since, before - 1000, clock_ticks() - 1000);
}

/* The last comes first, as that one is asked for before anything else. */
UNIT_TEST(a_delivery_asks_at_its_own_moments_and_evenly_between_them)
{
    struct delivery one = delivery_at(1000000, 1000000, 1010000), five = delivery_at(1000000, 5000000, 5010000),
                    many = five;
    five.count = 5;
    many.count = 1000;
    assert_int_equal(delivery_moments(&one), 1);
    assert_int_equal(delivery_moment_ns(&one, 0, 1), 1000000);
    assert_int_equal(delivery_moments(&five), 5);
    for (uint32_t number = 0; number < 5; number++)
        assert_int_equal(delivery_moment_ns(&five, number, 5), 5000000 - number * 1000000);
    assert_int_equal(delivery_moments(&many), DELIVERY_MOMENTS);
    assert_int_equal(delivery_moment_ns(&many, 0, DELIVERY_MOMENTS), 5000000 - 125000);
    assert_int_equal(delivery_moment_ns(&many, DELIVERY_MOMENTS - 1, DELIVERY_MOMENTS), 1000000 + 125000);
}

UNIT_TEST(a_delivery_is_divided_between_two_of_its_moments)
{
    struct delivery rest = delivery_at(1000000, 5000000, 5010000);
    rest.count = 5;
    rest.p = 5 * P;
    struct delivery first = delivery_take(&rest, 2);
    assert_int_equal(first.count, 2);
    assert_near(first.p, 2 * P);
    assert_int_equal(first.due_ns, 1000000);
    assert_int_equal(first.census_ns, 2000000);
    assert_int_equal(rest.count, 3);
    assert_near(rest.p, 3 * P);
    assert_int_equal(rest.due_ns, 3000000);
    assert_int_equal(rest.census_ns, 5000000);
}

UNIT_MAIN(NULL, NULL)
