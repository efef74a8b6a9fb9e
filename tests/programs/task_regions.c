/* Regions inside tasks, so short that most of the time is spent making and unmaking them: all of it belongs
 * below the task, once. STAY keeps calls at a function's end from becoming jumps. */
#include <omp.h>

#define NAMED __attribute__((noinline))
#define STAY  __asm__ volatile("")

static volatile int sum[2][16];

NAMED static void short_region(void)
{
#pragma omp parallel num_threads(2)
    {
        sum[omp_get_thread_num()][0]++;
        STAY;
    }
    STAY;
}

NAMED static void body(void)
{
    for (int i = 0; i < 500; i++)
        short_region();
    STAY;
}

int main(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 12; i++) {
#pragma omp task
        {
            body();
            STAY;
        }
    }
    return 0;
}
