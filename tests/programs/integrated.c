/* LMF13's third method: one thread works, one holds a lock, one waits for it and one idles. With three
 * threads busy the worker inherits a third of the idleness and the holder two thirds: its own and its
 * waiter's. */
#include "analytic.h"

static omp_lock_t lock;

NAMED static void worker(void)
{
    work_for("worker", 0.1607);
}

NAMED static void holder(void)
{
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s();
    spin_until(got_s + 0.1409);
    omp_unset_lock(&lock);
    record_lock("holder", &lock, asked_s, got_s, clock_s());
}

NAMED static void waiter(void)
{
    work_for("waiter", 0.0211);
    double asked_s = clock_s();
    omp_set_lock(&lock);
    double got_s = clock_s();
    omp_unset_lock(&lock);
    record_lock("waiter", &lock, asked_s, got_s, clock_s());
}

int main(void)
{
    omp_init_lock(&lock);
    for (int repetition = 0; repetition < 15; repetition++) {
#pragma omp parallel num_threads(4)
        {
            switch (omp_get_thread_num()) {
            case 1:
                worker();
                break;
            case 2:
                holder();
                break;
            case 3:
                waiter();
                break;
            default: /* the primary thread goes straight to the barrier */
                break;
            }
        }
    }
    print_expectations(4);
    return 0;
}
