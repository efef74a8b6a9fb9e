/* Who holds the lock, told apart from others: a waiter that holds three locks itself, a thread that holds
 * three others, and a holder that idles at the join of an inner region: that is neither before_join() nor
 * after_join(). */
#include "analytic.h"

enum { OTHERS = 3 };

static omp_lock_t other[2 * OTHERS], wanted, joined;

NAMED static void culprit(void)
{
    double begin_s = clock_s();
    spin_until(begin_s + 0.3007);
    record_interval(INTERVAL_HOLD, "culprit", &wanted, begin_s, clock_s());
}

NAMED static void victim(void)
{
    double asked_s = clock_s();
    omp_set_lock(&wanted);
    record_interval(INTERVAL_WAIT, "victim", &wanted, asked_s, clock_s());
    omp_unset_lock(&wanted);
    __asm__ volatile("");
}

NAMED static void hold_for(const char *function, double seconds)
{
    double begin_s = clock_s();
    spin_until(begin_s + seconds);
    record_interval(INTERVAL_HOLD, function, &joined, begin_s, clock_s());
}

NAMED static void before_join(void)
{
    hold_for("before_join", 0.0501);
    __asm__ volatile("");
}

NAMED static void after_join(void)
{
    hold_for("after_join", 0.0502);
    __asm__ volatile("");
}

NAMED static void wait_for_joined(void)
{
    double asked_s = clock_s();
    omp_set_lock(&joined);
    record_interval(INTERVAL_WAIT, "wait_for_joined", &joined, asked_s, clock_s());
    omp_unset_lock(&joined);
    __asm__ volatile("");
}

static void wait_with_locks_held(int thread)
{
    for (int i = 0; i < OTHERS; i++)
        omp_set_lock(&other[OTHERS * thread + i]);
    if (thread == 1)
        omp_set_lock(&wanted);
#pragma omp barrier
    if (thread == 1) {
        culprit();
        omp_unset_lock(&wanted);
    } else {
        victim();
    }
    for (int i = OTHERS; i-- > 0;)
        omp_unset_lock(&other[OTHERS * thread + i]);
#pragma omp barrier
}

static void hold_over_a_join(int thread)
{
    if (thread == 0)
        omp_set_lock(&joined);
#pragma omp barrier
    if (thread == 1) {
        wait_for_joined();
        return;
    }
    before_join();
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1)
        spin_until(clock_s() + 0.2);
    after_join();
    omp_unset_lock(&joined);
}

int main(void)
{
    omp_set_max_active_levels(2);
    for (int i = 0; i < 2 * OTHERS; i++)
        omp_init_lock(&other[i]);
    omp_init_lock(&wanted);
    omp_init_lock(&joined);
#pragma omp parallel num_threads(2)
    {
        wait_with_locks_held(omp_get_thread_num());
        hold_over_a_join(omp_get_thread_num());
    }
    sweep(2);
    const char *const holders[] = {"culprit", "before_join", "after_join"};
    for (int i = 0; i < 3; i++)
        expect("lock_wait", holders[i], blamed_row(holders[i])->lock_wait);
    expect("lock_wait", "victim", 0);
    return 0;
}
