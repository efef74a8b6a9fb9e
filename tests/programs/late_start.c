/* Half a second of serial work before the runtime starts (main itself holds no region): with the launcher it
 * is sampled, without it it is a row of its own with its true time. */
#include "analytic.h"

NAMED static void early_work(double end_s)
{
    spin_until(end_s);
    __asm__ volatile("");
}

NAMED static void first_region(void)
{
#pragma omp parallel num_threads(2)
    work_for("region_work", 0.2007);
    __asm__ volatile("");
}

int main(void)
{
    double begin_s = clock_s();
    early_work(begin_s + 0.7);
    double early_s = clock_s() - begin_s;
    first_region();
    printf("early %.6f\n", early_s);
    return 0;
}
