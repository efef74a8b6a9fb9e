/* Two threads, unequal shares: idleness on slow() for as long as fast()'s thread waited for it. That it does wait is not left to
 * chance: slow() goes on for a while behind fast()'s end, whoever had a core until then. */
#include "analytic.h"

static volatile double fast_end_s;
static volatile int fast_ends; /* which may come before slow() begins, if that has no core */

NAMED static void slow(int repetition)
{
    double begin_s = clock_s();
    spin_until(begin_s + 0.1307);
    while (fast_ends <= repetition)
        ;
    spin_until(fast_end_s + 0.0896);
    record_interval(INTERVAL_WORK, "slow", NULL, begin_s, clock_s());
}

NAMED static void fast(void)
{
    work_for("fast", 0.0411);
    fast_end_s = clock_s();
    fast_ends++;
    __asm__ volatile("");
}

int main(void)
{
    for (int repetition = 0; repetition < 15; repetition++) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0)
                slow(repetition);
            else
                fast();
        }
    }
    print_expectations(2);
    print_shared_expectations();
    return 0;
}
