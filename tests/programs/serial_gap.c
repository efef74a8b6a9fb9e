/* Serial sections between regions: the worker's idleness is the serial function's doing, its time x (T - 1).
 */
#include "analytic.h"

NAMED static void parallel_work(void)
{
    work_for("parallel_work", 0.1507);
}

NAMED static void serial_part(void)
{
    work_for("serial_part", 0.6013);
}

int main(void)
{
    for (int repetition = 0; repetition < 3; repetition++) {
#pragma omp parallel num_threads(2)
        parallel_work();
        serial_part();
    }
    print_expectations(2);
    print_shared_expectations();
    return 0;
}
