/* Many short sections under one lock, of two lengths: long_section() holds it 6 times as long, so it gets
 * most of the waiting. What a waiter spends between a release and its own acquisition is nobody's. */
#include "analytic.h"

static omp_lock_t lock;

/* 0.5 ... 1.5, never in step with the sampling period. */
HELPER double jitter(int turn)
{
    double phase = 0.6180339887 * turn;
    return 0.5 + (phase - (double)(long)phase);
}

NAMED static void long_section(int turn)
{
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s();
    spin_until(got_s + 0.0006 * jitter(turn));
    double released_s = clock_s();
    omp_unset_lock(&lock);
    record_lock("long_section", &lock, asked_s, got_s, released_s);
}

NAMED static void short_section(int turn)
{
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s();
    spin_until(got_s + 0.0001 * jitter(turn));
    double released_s = clock_s();
    omp_unset_lock(&lock);
    record_lock("short_section", &lock, asked_s, got_s, released_s);
}

int main(void)
{
    omp_init_lock(&lock);
    double end_s = clock_s() + 2.0;
#pragma omp parallel num_threads(2)
    {
        for (int turn = 0; clock_s() < end_s; turn++) {
            if (omp_get_thread_num() == 0)
                long_section(turn);
            else
                short_section(turn);
        }
    }
    sweep(2); /* nobody idles but for want of a core: that is not stated */
    const char *const sections[] = {"long_section", "short_section"};
    for (int i = 0; i < 2; i++) {
        expect("work", sections[i], blamed_row(sections[i])->work);
        expect("lock_wait", sections[i], blamed_row(sections[i])->lock_wait);
        expect("lock_wait_here", sections[i], blamed_row(sections[i])->lock_wait_here);
    }
    return 0;
}
