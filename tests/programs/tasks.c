/* A single producer and tasks of known length: while the last, long task runs the other thread idles, and the
 * idleness is the long task's. */
#include "analytic.h"

static int task_line;

NAMED static void produce(void)
{
    work_for("produce", 0.0107);
}

NAMED static void short_task(void)
{
    work_for("short_task", 0.0203);
}

NAMED static void long_task(void)
{
    work_for("long_task", 0.1501);
}

int main(void)
{
    for (int repetition = 0; repetition < 8; repetition++) {
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            for (int i = 0; i < 5; i++) {
                produce();
                task_line = __LINE__ + 1;
#pragma omp task firstprivate(i)
                {
                    if (i < 4)
                        short_task();
                    else
                        long_task();
                    __asm__ volatile(""); /* no tail call: tail_call.c is about those */
                }
            }
        }
    }
    print_expectations(2);
    printf("task main [task tasks.c:%d]\n", task_line);
    return 0;
}
