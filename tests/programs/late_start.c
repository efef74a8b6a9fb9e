/* Serial work before the runtime starts (main itself holds no region), of which some is asleep if there is an argument: with the
 * launcher it is sampled, without it it is a row of its own with its true time. */
#include "analytic.h"

NAMED static void early_sleep(void)
{
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    __asm__ volatile("");
}

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

int main(int argc, char **argv)
{
    (void)argv;
    double begin_s = clock_s();
    if (argc > 1)
        early_sleep();
    early_work(begin_s + 0.7);
    double early_s = clock_s() - begin_s, used_s = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    first_region();
    printf("early %.6f\nused %.6f\n", early_s, used_s);
    return 0;
}
