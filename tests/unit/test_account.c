#include "tests/unit/unit.h"

#include <math.h>

#include "blame/account.h"

#define P 5e6 /* a sample of 5 ms */

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-6)
        fail_msg("%.9f instead of %.9f", value, expected);
}

/* LMF13 eq. 1 of a context: p x sum of (t / b - 1), from the two sums that are kept. */
static double idleness(const struct profile_metric *metric, double t)
{
    return t * metric->inverse_busy - (metric->work + metric->overhead + metric->lock_wait);
}

UNIT_TEST(a_busy_sample_is_work_or_overhead)
{
    struct profile_metric metric = {0};
    account_busy(&metric, false, P, 1, (struct census){.busy = 2, .in_use = 2});
    assert_int_equal(metric.samples, 1);
    assert_near(metric.work, P);
    assert_near(metric.overhead, 0);
    account_busy(&metric, true, 3 * P, 3, (struct census){.busy = 2, .in_use = 2}); /* with two overruns */
    assert_int_equal(metric.samples, 4);
    assert_near(metric.work, P);
    assert_near(metric.overhead, 3 * P);
    assert_near(metric.inverse_busy, 4 * P / 2);
    assert_near(metric.lock_wait + metric.lock_wait_here, 0);
}

/* By hand: 4 threads, a context sampled with b = 1, 1, 2, 4. Idle threads 3, 3, 2, 0; shares 3, 3, 1, 0. */
UNIT_TEST(equation_one_by_hand)
{
    static const uint32_t busy[] = {1, 1, 2, 4};
    struct profile_metric metric = {0};
    for (int i = 0; i < 4; i++)
        account_busy(&metric, false, P, 1, (struct census){.busy = busy[i], .in_use = 4});
    assert_near(idleness(&metric, 4), 7 * P);
    assert_near(metric.shared_idle, 7 * P);                 /* t was 4 all the time */
    assert_near(idleness(&metric, 8), (7 + 7 + 3 + 1) * P); /* on 8 cores: core idleness */
}

/* A serial program on two cores: dedicated it wastes a core, shared it costs nothing. */
UNIT_TEST(serial_code_costs_nothing_where_cores_are_shared)
{
    struct profile_metric metric = {0};
    for (int i = 0; i < 10; i++)
        account_busy(&metric, false, P, 1, (struct census){.busy = 1, .in_use = 1});
    assert_near(metric.shared_idle, 0);
    assert_near(idleness(&metric, 2), 10 * P);
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

/* LMF13 3.1.3: n_i idle, n_w working, n_l waiting for one lock. A period, one sample a thread: each working
 * context gets n_i / (n_w + n_l), the release n_i n_l / (n_w + n_l), the waiting contexts none. */
static void check_integrated(uint32_t idle, uint32_t work, uint32_t wait)
{
    struct census census = {.busy = work + wait, .in_use = idle + work + wait};
    struct profile_metric worker = {0}, waiting = {0}, release = {0};
    struct lock_blame blame;
    double n_i = idle, n_w = work, n_l = wait;
    directed_reset();
    account_busy(&worker, false, P, 1, census); /* one of the n_w */
    for (uint32_t i = 0; i < wait; i++) {
        blame = account_waiter(P, census);
        assert_true(directed_add(77, 0, &blame));
        account_waiting_here(&waiting, P, 1, i == 0);
    }
    assert_int_equal(directed_take(77, 0, &blame), wait > 0);
    if (wait > 0)
        account_blame(&release, &blame);
    double t = n_i + n_w + n_l;
    assert_near(idleness(&worker, t), P * n_i / (n_w + n_l));
    assert_near(idleness(&release, t), P * n_i * n_l / (n_w + n_l));
    assert_near(release.shared_idle, P * n_i * n_l / (n_w + n_l));
    assert_near(release.lock_wait, P * n_l);
    assert_near(waiting.inverse_busy + waiting.shared_idle + waiting.lock_wait, 0);
    assert_near(waiting.lock_wait_here, P * n_l);
    assert_int_equal(waiting.samples, wait);
    assert_int_equal(waiting.waits, wait > 0);
    assert_int_equal(release.samples, 0); /* blame is no sample */
    /* Nothing is lost: n_i threads idled for a period. */
    assert_near(n_w * idleness(&worker, t) + idleness(&release, t), P * n_i);
}

UNIT_TEST(integrated_blame_by_hand)
{
    for (uint32_t idle = 0; idle <= 4; idle++)
        for (uint32_t work = 1; work <= 4; work++)
            for (uint32_t wait = 0; wait <= 4; wait++)
                check_integrated(idle, work, wait);
}

/* Conservation in a random program of 5 threads: what contexts are blamed for is what threads idled. */
UNIT_TEST(idleness_is_conserved)
{
    enum { THREADS = 5, PERIODS = 1000 };
    struct profile_metric contexts[THREADS] = {{0}}, release = {0};
    struct profile_thread ledger = {0};
    double idle = 0, lock_wait = 0, busy = 0, blamed = 0, shared = 0;
    uint64_t random = 88172645463325252ull;
    directed_reset();
    for (int period = 0; period < PERIODS; period++) {
        uint32_t states[THREADS], b = 0; /* 0 idle, 1 work, 2 waits; thread 0 always works */
        for (int i = 0; i < THREADS; i++)
            b += (states[i] = i == 0 ? 1 : unit_random(&random) % 3) != 0;
        struct census census = {.busy = b, .in_use = THREADS};
        for (int i = 0; i < THREADS; i++) {
            if (states[i] == 1) {
                account_busy(&contexts[i], i % 2, P, 1, census);
            } else if (states[i] == 2) {
                struct lock_blame blame = account_waiter(P, census);
                directed_add(5 + (uint64_t)i, (uint32_t)i, &blame);
                lock_wait += P;
            } else {
                account_idle(&ledger, &(struct idle_sample){.p = P, .busy_others = b});
                idle += P;
            }
            busy += states[i] != 0 ? P : 0;
        }
    }
    uint32_t cursor = 0, holder;
    uint64_t key;
    for (struct lock_blame blame; directed_take_rest(&cursor, &key, &holder, &blame);)
        account_blame(&release, &blame);
    assert_near(release.lock_wait, lock_wait);
    for (int i = 0; i < THREADS; i++) {
        blamed += idleness(&contexts[i], THREADS);
        shared += contexts[i].shared_idle;
    }
    blamed += idleness(&release, THREADS);
    shared += release.shared_idle;
    assert_near(ledger.idle, idle);
    assert_true(fabs(blamed - idle) < 1e-9 * idle);
    assert_true(fabs(shared - idle) < 1e-9 * idle);
    assert_true(fabs(THREADS * (double)PERIODS * P - busy - idle) < 1e-9 * idle);
}

UNIT_TEST(an_idle_sample_is_booked_by_what_the_thread_was)
{
    struct profile_thread ledger = {0};
    account_idle(&ledger, &(struct idle_sample){.p = 1, .busy_others = 1});
    account_idle(&ledger, &(struct idle_sample){.p = 2, .busy_others = 0});
    account_idle(&ledger, &(struct idle_sample){.p = 4, .busy_others = 0, .parked = true});
    account_idle(&ledger, &(struct idle_sample){.p = 8, .busy_others = 3, .parked = true});
    assert_near(ledger.idle, 15);
    assert_near(ledger.parked, 12);
    assert_near(ledger.idle_nobody_busy, 2);
    assert_int_equal(ledger.recorded, 0); /* counted when the sample was taken */
}

/* The gap is what was before the expiry and what came after the handler: neither the signal's latency nor the
 * handler itself counts. */
UNIT_TEST(a_gap_shorter_than_the_grace_is_dispatch)
{
    struct idle_sample sample = {.before_ns = 2000, .settled_from_ns = 1000000};
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

UNIT_MAIN(NULL, NULL)
