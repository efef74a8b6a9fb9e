/* Four threads with three lengths of work: idleness shared among the threads still busy, T/b - 1 each. The
 * worker threads carry the long shares, so that their contexts must be resolved to get the blame. */
#include "analytic.h"

NAMED static void slow(void)
{
    work_for("slow", 0.1709);
}

NAMED static void medium(void)
{
    work_for("medium", 0.1103);
}

NAMED static void fast(void)
{
    work_for("fast", 0.0517);
}

int main(void)
{
    for (int repetition = 0; repetition < 12; repetition++) {
#pragma omp parallel num_threads(4)
        {
#pragma omp barrier /* with fewer cores than threads some start late; that is not this program's subject */
            switch (omp_get_thread_num()) {
            case 3:
                slow();
                break;
            case 2:
                medium();
                break;
            default:
                fast();
            }
        }
    }
    print_expectations(4);
    print_shared_expectations();
    return 0;
}
