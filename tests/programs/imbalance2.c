/* Two threads, unequal shares: idleness on slow() for as long as fast()'s thread waited for it. */
#include "analytic.h"

NAMED static void slow(void)
{
    work_for("slow", 0.1307);
}

NAMED static void fast(void)
{
    work_for("fast", 0.0411);
}

int main(void)
{
    for (int repetition = 0; repetition < 15; repetition++) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0)
                slow();
            else
                fast();
        }
    }
    print_expectations(2);
    print_shared_expectations();
    return 0;
}
