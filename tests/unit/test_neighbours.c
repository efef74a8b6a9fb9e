#include <math.h>
#include <string.h>

#include "blame/directed.h"
#include "blame/neighbours.h"
#include "cct/profile_format.h"
#include "tests/unit/unit.h"

#define P 5e6 /* a sample of 5 ms */

static struct profile_neighbours record;
static struct neighbours neighbours;
static struct profile_thread ledger;

static void begin(void)
{
    memset(&ledger, 0, sizeof(ledger));
    memset(&record, 0, sizeof(record));
    neighbours = (struct neighbours){.record = &record};
}

/* A delivery that stands for that many periods. */
static void deliver(double *sum, uint32_t periods)
{
    *sum += P * periods;
    ledger.delivered += periods;
    neighbours_compare(&neighbours, NULL, &ledger, 4);
}

static double variance_of(enum profile_neighbours_sum sum)
{
    return record.variance[sum] / (P * P);
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
    assert_near(variance_of(PROFILE_NEIGHBOURS_OVERHEAD), 0);
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

/* As if the periods of a late delivery had come like rain, and the visit that it is in had been three. */
UNIT_TEST(a_late_delivery_saves_nothing)
{
    begin();
    for (uint32_t i = 0; i < 8; i++)
        deliver(&ledger.work, i == 3 ? 5 : 1);
    assert_near(variance_of(PROFILE_NEIGHBOURS_WORK), 5 + 2 / 3.0);
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
    assert_near(variance_of(PROFILE_NEIGHBOURS_THREAD_IDLENESS), 9);
}

/* It and the next sample are like a late delivery. */
UNIT_TEST(a_dropped_sample_adds_to_no_sum)
{
    begin();
    deliver(&ledger.work, 1);
    ledger.delivered++;
    deliver(&ledger.work, 1);
    assert_near(variance_of(PROFILE_NEIGHBOURS_WORK), 1.5);
}

UNIT_MAIN(NULL, NULL)
