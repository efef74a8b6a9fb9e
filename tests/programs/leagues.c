/* target teams on the host inside a region: leagues that libomp makes of one team, inside a team. Whoever sends their work, all of it is
 * below main and the region around. Run it with two threads. */
#include <stdio.h>

static volatile double sink[2];

__attribute__((noinline)) static void spin(int lane)
{
    for (int i = 0; i < 10000000; i++)
        sink[lane] += i;
}

__attribute__((noinline)) void in_loop(void)
{
    spin(0);
    __asm__ volatile("");
}

__attribute__((noinline)) void in_task(void)
{
    spin(0);
    __asm__ volatile("");
}

__attribute__((noinline)) void in_region(void)
{
    spin(1);
    __asm__ volatile("");
}

int main(void)
{
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int i = 0; i < 4; i++) {
#pragma omp target teams num_teams(1)
        in_loop();
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task
        {
#pragma omp target teams num_teams(1)
            in_task();
        }
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp target teams num_teams(1)
        in_region();
    }
    puts("done");
    return 0;
}
