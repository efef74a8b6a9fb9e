#include "tests/unit/unit.h"

#include <math.h>

#include "blame/account.h"

#define P 5e6 /* a sample of 5 ms */

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

UNIT_TEST(an_idle_sample_is_booked_by_what_the_thread_was)
{
    struct profile_thread ledger = {0};
    account_idle(&ledger, &(struct idle_sample){.p = 1});
    account_idle(&ledger, &(struct idle_sample){.p = 2, .alone = 1});
    account_idle(&ledger, &(struct idle_sample){.p = 4, .parked = 1});
    account_idle(&ledger, &(struct idle_sample){.p = 8, .parked = 0.75, .alone = 0.25});
    assert_near(ledger.idle, 15);
    assert_near(ledger.parked, 10);
    assert_near(ledger.idle_nobody_busy, 4);
    assert_int_equal(ledger.recorded, 0); /* counted when the sample was taken */
}

/* The gap is what was before the expiry and what came after the handler: neither the signal's latency nor the
 * handler itself counts. */
UNIT_TEST(a_gap_shorter_than_the_grace_is_dispatch)
{
    struct idle_sample sample = {.grace_ns = STATE_GRACE_NS, .before_ns = 2000, .settled_from_ns = 1000000};
    assert_true(idle_sample_is_dispatch(&sample, 1000000));
    assert_true(idle_sample_is_dispatch(&sample, 1000000 + STATE_GRACE_NS - 2000 - 1));
    assert_false(idle_sample_is_dispatch(&sample, 1000000 + STATE_GRACE_NS - 2000));
    sample.before_ns = 0; /* the thread went idle after its timer was due */
    assert_true(idle_sample_is_dispatch(&sample, 1000000 + STATE_GRACE_NS - 1));
    assert_false(idle_sample_is_dispatch(&sample, 1000000 + STATE_GRACE_NS));
    sample.before_ns = STATE_GRACE_NS;
    assert_false(idle_sample_is_dispatch(&sample, 1000000));
    sample.before_ns = 100 * STATE_GRACE_NS; /* no core when the timer fired, and the event right behind */
    assert_false(idle_sample_is_dispatch(&sample, 1000001));
}

/* Of several expirations the last one counts: the gap is longer than what lies between them, however soon
 * after its begin the first was due. */
UNIT_TEST(a_gap_that_lasted_through_expirations_is_no_dispatch)
{
    struct state_line line = {0};
    struct profile_thread ledger = {0};
    struct idle_sample sample = {0};
    struct delivery delivery = {.count = 3,
                                .p = 3 * P,
                                .due_ns = 1001000,
                                .census_ns = 11001000,
                                .clocks = {.ns = 11002000, .ticks = 11002000, .ns_per_tick = 1}};
    state_set_idle(&line, 1000000);
    account_idle_hit(&ledger, &sample, &line, &delivery);
    assert_false(sample.pending);
    assert_near(ledger.idle, 3 * P);
}

static struct delivery delivery_at(uint64_t first_ns, uint64_t last_ns, uint64_t handled_ns)
{
    return (struct delivery){.count = 1 + (last_ns > first_ns),
                             .p = P * (1 + (last_ns > first_ns)),
                             .due_ns = first_ns,
                             .census_ns = last_ns,
                             .clocks = {.ns = handled_ns, .ticks = handled_ns, .ns_per_tick = 1}};
}

/* The thread stood still from the first of them to the handler: that is nothing it waited. */
UNIT_TEST(two_moments_while_a_sample_is_delivered_hit_one_gap)
{
    struct state_line line = {0};
    struct profile_thread ledger = {0};
    struct idle_sample sample = {0};
    struct delivery delivery = delivery_at(1001000, 1021000, 1031000);
    state_set_idle(&line, 1000000);
    account_idle_hit(&ledger, &sample, &line, &delivery);
    assert_true(sample.pending);
    assert_int_equal(sample.before_ns, 1000);
}

/* A moment that comes while the one before it is handled, or soon after: both are settled at once, each by its own
 * census. */
UNIT_TEST(two_samples_in_one_gap_are_settled_together)
{
    struct state_line line = {0};
    struct profile_thread ledger = {0};
    struct idle_sample sample = {0};
    struct delivery first = delivery_at(1001000, 1001000, 1031000), second = delivery_at(1052000, 1052000, 1070000),
                    third = delivery_at(1093000, 1093000, 1094000);
    state_set_idle(&line, 1000000);
    account_idle_hit(&ledger, &sample, &line, &first);
    sample.settled_from_ns = 1050000; /* as account_idle_resume() has it */
    state_set_idle(&line, 1019000);
    account_idle_hit(&ledger, &sample, &line, &second);
    assert_true(sample.pending);
    assert_int_equal(sample.before_ns, 3000);
    assert_near(sample.dispatch.overhead, 2 * P);
    assert_int_equal(sample.dispatch.samples, 2);
    assert_near(ledger.idle, 0);
    sample.settled_from_ns = 1090000;
    state_set_idle(&line, 1039000);
    account_idle_hit(&ledger, &sample, &line, &third); /* 1 + 2 + 3 us: it is a wait */
    assert_false(sample.pending);
    assert_near(ledger.idle, 3 * P);
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

UNIT_MAIN(NULL, NULL)
