#include <math.h>
#include <string.h>

#include "blame/directed.h"
#include "blame/neighbours.h"
#include "cct/profile_format.h"
#include "cct/tree.h"
#include "tests/unit/unit.h"

#define P 5e6 /* a sample of 5 ms */

static struct profile_neighbours record[PROFILE_NEIGHBOURS_RECORDS];
static struct profile_neighbours of_context[PROFILE_NEIGHBOURS_RECORDS];
static struct neighbours neighbours;
static struct tree tree;
static struct profile_thread ledger;

static void begin(void)
{
    memset(&ledger, 0, sizeof(ledger));
    memset(record, 0, sizeof(record));
    memset(of_context, 0, sizeof(of_context));
    neighbours = (struct neighbours){.record = {&record[0], &record[1]}};
}

/* A delivery that stands for that many periods. */
static void deliver(double *sum, uint32_t periods)
{
    *sum += P * periods;
    ledger.recorded += periods;
    neighbours_compare(&neighbours, &tree, &ledger);
}

static double variance_of(enum profile_neighbours_sum sum)
{
    return record[sum / PROFILE_NEIGHBOURS_EACH].variance[sum % PROFILE_NEIGHBOURS_EACH] / (P * P);
}

/* Of thread idleness, for T threads. */
static double variance_of_idleness(double threads)
{
    return threads * threads * variance_of(PROFILE_NEIGHBOURS_INVERSE_BUSY) -
           threads * variance_of(PROFILE_NEIGHBOURS_BOTH) + variance_of(PROFILE_NEIGHBOURS_OWN);
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9)
        fail_msg("%.12f instead of %.12f", value, expected);
}

/* But for the two ends of what lasts. */
UNIT_TEST(what_is_in_every_period_has_no_variance)
{
    begin();
    for (uint32_t i = 0; i < 20; i++)
        deliver(&ledger.work, 1);
    assert_near(variance_of(PROFILE_NEIGHBOURS_WORK), 1 / 3.0);
    assert_near(variance_of(PROFILE_NEIGHBOURS_MPI_WAIT), 0);
}

UNIT_TEST(visits_that_are_seen_once_come_like_rain)
{
    begin();
    for (uint32_t i = 0; i < 30; i++)
        deliver(i % 3 == 2 ? &ledger.work : &ledger.overhead, 1);
    assert_near(variance_of(PROFILE_NEIGHBOURS_WORK), 10);
}

/* Two ends, each with the variance 1/6 (docs/accounting.md). */
UNIT_TEST(a_visit_of_many_periods_has_the_variance_of_its_ends)
{
    for (uint32_t periods = 2; periods < 9; periods++) {
        begin();
        for (uint32_t visit = 0; visit < 6; visit++) {
            for (uint32_t i = 0; i < periods; i++)
                deliver(&ledger.mpi_wait, 1);
            for (uint32_t i = 0; i < 3; i++)
                deliver(&ledger.blocked, 1);
        }
        assert_near(variance_of(PROFILE_NEIGHBOURS_MPI_WAIT), 6 / 3.0);
    }
}

UNIT_TEST(a_late_delivery_counts_as_many_samples)
{
    for (uint32_t late = 2; late < 6; late++) {
        begin();
        for (uint32_t i = 0; i < 8; i++)
            deliver(i == 6 ? &ledger.mpi_wait : &ledger.work, i == 3 || i == 6 ? late : 1);
        assert_near(variance_of(PROFILE_NEIGHBOURS_MPI_WAIT), 1 / 3.0);
        assert_near(variance_of(PROFILE_NEIGHBOURS_WORK), 1 / 3.0 + 1);
    }
}

/* Of four threads one works: three are idle because of it. */
UNIT_TEST(idleness_is_what_its_formula_makes_of_a_sample)
{
    begin();
    deliver(&ledger.idle, 2);
    neighbours_add(&neighbours, &(struct lock_blame){.inverse_busy = P, .shared_idle = 3 * P});
    deliver(&ledger.work, 1);
    deliver(&ledger.idle, 2);
    assert_near(variance_of(PROFILE_NEIGHBOURS_SHARED_IDLENESS), 9);
    assert_near(variance_of_idleness(4), 9);
}

/* Serial code is known to idle the others once there are some: in each period 3, so only its ends have an error. */
UNIT_TEST(threads_that_begin_later_count_from_the_start)
{
    begin();
    for (uint32_t i = 0; i < 20; i++) {
        neighbours_add(&neighbours, &(struct lock_blame){.inverse_busy = P});
        deliver(&ledger.work, 1);
    }
    assert_near(variance_of_idleness(1), 0);
    assert_near(variance_of_idleness(4), 9 / 3.0);
}

/* What came later is in a second record. */
UNIT_TEST(sleep_and_idle_cores_have_a_variance_too)
{
    begin();
    for (uint32_t i = 0; i < 30; i++) {
        neighbours.core_idle += i % 3 == 2 ? 2 * P : 0;
        deliver(i % 3 == 2 ? &ledger.blocked : &ledger.no_core, 1);
    }
    assert_near(variance_of(PROFILE_NEIGHBOURS_BLOCKED), 10);
    assert_near(variance_of(PROFILE_NEIGHBOURS_CORES), 40);
    assert_near(record[0].variance[PROFILE_NEIGHBOURS_WORK], 0);
}

/* More threads than cores: core idleness is negative. */
UNIT_TEST(sums_that_cancel_each_other_have_variances)
{
    begin();
    for (uint32_t i = 0; i < 20; i++) {
        neighbours.core_idle -= P;
        deliver(&ledger.no_core, 1);
    }
    assert_near(variance_of(PROFILE_NEIGHBOURS_NO_CORE), 1 / 3.0);
    assert_near(variance_of(PROFILE_NEIGHBOURS_CORES), 1 / 3.0);
}

#define CONTEXT 7 /* a node */

/* A delivery in a context. Only the context CONTEXT has a record here, which is found without a tree. */
static void deliver_in(uint32_t node_idx, uint32_t periods)
{
    neighbours.stay_idx = CONTEXT;
    neighbours.stay[0] = &of_context[0];
    neighbours.stay[1] = &of_context[1];
    neighbours_found(&neighbours, node_idx);
    deliver(&ledger.work, periods);
}

/* Beyond one period each, of samples that are independent of one another. */
static double beyond_of(enum profile_neighbours_sum sum)
{
    return of_context[0].variance[sum] / (P * P);
}

UNIT_TEST(a_stay_in_a_context_has_the_variance_of_its_ends)
{
    for (uint32_t late = 1; late < 4; late++) {
        begin();
        for (uint32_t i = 0; i < 10; i++)
            deliver_in(CONTEXT, late);
        assert_near(10 * late + beyond_of(PROFILE_NEIGHBOURS_WORK), 1 / 3.0);
        assert_near(10 * late + beyond_of(PROFILE_NEIGHBOURS_OWN), 1 / 3.0);
    }
}

UNIT_TEST(samples_in_several_contexts_are_no_stay)
{
    begin();
    for (uint32_t i = 0; i < 30; i++) {
        bool between = i % 3 != 0;
        neighbours_found(&neighbours, NEIGHBOURS_MIXED);
        between ? deliver(&ledger.work, 1) : deliver_in(CONTEXT, 1);
    }
    assert_near(beyond_of(PROFILE_NEIGHBOURS_WORK), 0);
}

/* Its number may be that of another context since. */
UNIT_TEST(a_stay_ends_when_nodes_move)
{
    begin();
    deliver_in(CONTEXT, 1);
    tree.grafts++;
    deliver_in(CONTEXT, 1);
    assert_near(beyond_of(PROFILE_NEIGHBOURS_WORK), 0);
    deliver_in(CONTEXT, 1);
    assert_near(beyond_of(PROFILE_NEIGHBOURS_WORK), -5 / 3.0);
}

UNIT_MAIN(NULL, NULL)
