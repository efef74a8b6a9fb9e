/* The integrated case with three threads: one holds a lock and works, one waits for it, one idles. The waiter
 * is busy (b = 2), but what it inherits goes to the holder, which ends up with all the idleness. */
#include "analytic.h"

static omp_lock_t lock;

NAMED static void holder(void)
{
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s();
    spin_until(got_s + 0.1307);
    omp_unset_lock(&lock);
    record_lock("holder", &lock, asked_s, got_s, clock_s());
}

NAMED static void waiter(void)
{
    work_for("waiter", 0.0109);
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s();
    spin_until(got_s + 0.0203);
    omp_unset_lock(&lock);
    record_lock("waiter", &lock, asked_s, got_s, clock_s());
}

int main(void)
{
    omp_init_lock(&lock);
    for (int repetition = 0; repetition < 15; repetition++) {
#pragma omp parallel num_threads(3)
        {
            if (omp_get_thread_num() == 1)
                holder();
            else if (omp_get_thread_num() == 2)
                waiter();
        }
    }
    print_expectations(3);
    return 0;
}
