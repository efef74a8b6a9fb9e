/* A lock that its holder never releases, with a thread waiting for it until the program exits from inside the
 * region: the waiting has no release to go to and must not be lost. */
#include "analytic.h"

#include <sched.h>

static omp_lock_t lock;
static volatile double asked_s; /* 0: not yet */

NAMED static void waits_for_ever(void)
{
    asked_s = clock_s();
    omp_set_lock(&lock);
    __asm__ volatile("");
}

NAMED static void never_releases(void)
{
    omp_set_lock(&lock);
#pragma omp barrier
    while (asked_s == 0)
        sched_yield(); /* it may have no core */
    spin_until(clock_s() + 1.0);
    printf("expect lock_wait <unreleased lock> %.6f\n", clock_s() - asked_s);
    printf("expect lock_wait_here waits_for_ever %.6f\n", clock_s() - asked_s);
    exit(0);
}

int main(void)
{
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            never_releases();
        } else {
#pragma omp barrier
            waits_for_ever();
        }
    }
    return 1;
}
