/* 10,000 locks in one heap block, more than the first table of contended locks has room for: in each of 250
 * rounds one thread holds 40 of them, long enough for samples, while 40 others wait for one each. All are
 * initialised by make_locks(); what was waited is printed. */
#include "analytic.h"

#define ROUNDS  250
#define WAITERS 40
#define HOLD_S  0.008

static omp_lock_t *locks;

enum { MAKE_LINE = __LINE__ + 5 };
NAMED static void make_locks(void)
{
    locks = malloc(ROUNDS * WAITERS * sizeof *locks);
    for (int i = 0; i < ROUNDS * WAITERS; i++)
        omp_init_lock(&locks[i]);
}

NAMED static void release(omp_lock_t *batch)
{
    spin_until(clock_s() + HOLD_S);
    for (int i = 0; i < WAITERS; i++)
        omp_unset_lock(&batch[i]);
    __asm__ volatile("");
}

NAMED static double waiter(omp_lock_t *lock)
{
    double asked_s = clock_s();
    omp_set_lock(lock);
    double wait_s = clock_s() - asked_s;
    omp_unset_lock(lock);
    return wait_s;
}

int main(void)
{
    double wait_s = 0;
    make_locks();
#pragma omp parallel num_threads(WAITERS + 1) reduction(+ : wait_s)
    {
        int self = omp_get_thread_num();
        for (int round = 0; round < ROUNDS; round++) {
            omp_lock_t *batch = locks + round * WAITERS;
            for (int i = 0; self == WAITERS && i < WAITERS; i++)
                omp_set_lock(&batch[i]);
#pragma omp barrier
            if (self == WAITERS)
                release(batch);
            else
                wait_s += waiter(&batch[self]);
        }
    }
    printf("many\t%d\tlock of make_locks lock_names_many.c:%d\t%.6f\n", ROUNDS * WAITERS, MAKE_LINE, wait_s);
    return 0;
}
