/* A nestable lock taken three times by its owner: only the outermost release frees it, so nest_holder() gets
 * the waiting and taken_again(), whose release frees nothing, gets none. */
#include "analytic.h"

static omp_nest_lock_t lock;

NAMED static void taken_again(void)
{
    omp_set_nest_lock(&lock);
    spin_until(clock_s() + 0.0207);
    omp_unset_nest_lock(&lock);
    __asm__ volatile("");
}

NAMED static void nest_holder(void)
{
    double asked_s = clock_s();
    omp_set_nest_lock(&lock);
    double got_s = clock_s();
    spin_until(got_s + 0.0303);
    taken_again();
    taken_again();
    spin_until(clock_s() + 0.0307);
    omp_unset_nest_lock(&lock);
    record_lock("nest_holder", &lock, asked_s, got_s, clock_s());
}

NAMED static void waiter(void)
{
    work_for("waiter", 0.0103);
    double asked_s = clock_s();
    omp_set_nest_lock(&lock);
    double got_s = clock_s();
    omp_unset_nest_lock(&lock);
    record_lock("waiter", &lock, asked_s, got_s, clock_s());
}

int main(void)
{
    omp_init_nest_lock(&lock);
    for (int repetition = 0; repetition < 15; repetition++) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 1)
                nest_holder();
            else
                waiter();
        }
    }
    print_expectations(2);
    expect("lock_wait", "taken_again", 0);
    return 0;
}
