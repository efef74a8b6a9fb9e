/* A long hold of an omp_lock: the waiting belongs to long_holder(), which releases it, not to where it is
 * felt. */
#include "analytic.h"

static omp_lock_t lock;

NAMED static void long_holder(void)
{
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s();
    spin_until(got_s + 0.1109);
    omp_unset_lock(&lock);
    record_lock("long_holder", &lock, asked_s, got_s, clock_s());
}

NAMED static void waiter(void)
{
    work_for("waiter", 0.0103);
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s();
    spin_until(got_s + 0.0207);
    omp_unset_lock(&lock);
    record_lock("waiter", &lock, asked_s, got_s, clock_s());
}

int main(void)
{
    omp_init_lock(&lock);
    for (int repetition = 0; repetition < 15; repetition++) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 1)
                long_holder();
            else
                waiter();
        }
    }
    print_expectations(2);
    return 0;
}
