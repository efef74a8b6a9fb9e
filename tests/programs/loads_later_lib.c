/* What loads_later.c loads: a team that works for 0.2 s, or that calls back. */
#include "analytic.h"

int sum_of_team(void);
void call_by_team(void (*call)(int));
void GOMP_coming(void);

NAMED static int later_share(void)
{
    spin_until(clock_s() + 0.2);
    return omp_get_thread_num() + 1;
}

int sum_of_team(void)
{
    int sum = 0;
#ifdef COMING
    GOMP_coming();
#endif
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += later_share();
    return sum;
}

void call_by_team(void (*call)(int))
{
#pragma omp parallel num_threads(2)
    call(omp_get_thread_num());
}
