/* A parent that waits in taskwait while its child runs elsewhere is idle, and the child is to blame. */
#include "analytic.h"

NAMED static void child(void)
{
    work_for("child", 0.1307);
}

NAMED static void parent_share(void)
{
    work_for("parent_share", 0.0403);
}

NAMED static void after_wait(void)
{
    work_for("after_wait", 0.0207);
}

NAMED static void parent(void)
{
#pragma omp task
    child();
    parent_share();
#pragma omp taskwait
    after_wait();
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
