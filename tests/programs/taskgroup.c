/* The end of a taskgroup waits for grandchildren too: a parent that waits there is idle, the grandchild to
 * blame. */
#include "analytic.h"

NAMED static void grandchild(void)
{
    work_for("grandchild", 0.1407);
}

NAMED static void child(void)
{
    work_for("child", 0.0103);
#pragma omp task
    grandchild();
    __asm__ volatile("");
}

NAMED static void parent_share(void)
{
    work_for("parent_share", 0.0511);
}

NAMED static void parent(void)
{
#pragma omp taskgroup
    {
#pragma omp task
        child();
        parent_share();
    }
    __asm__ volatile("");
}

int main(void)
{
    for (int repetition = 0; repetition < 10; repetition++) {
#pragma omp parallel num_threads(2)
#pragma omp single
        parent();
    }
    print_expectations(2);
    return 0;
}
