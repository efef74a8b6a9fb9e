/* 64 threads, far more than cores; then teams of ever changing size. */
#include "analytic.h"

NAMED static void share(double seconds)
{
    spin_until(clock_s() + seconds);
    __asm__ volatile("");
}

int main(void)
{
    int members = 0;
    for (int repetition = 0; repetition < 3; repetition++) {
#pragma omp parallel num_threads(64) reduction(+ : members)
        {
            share(0.2);
            members++;
        }
    }
    for (int repetition = 0; repetition < 60; repetition++) {
#pragma omp parallel num_threads(1 + repetition * 7 % 12) reduction(+ : members)
        {
            share(0.005);
            members++;
        }
    }
    printf("members %d\n", members);
    return 0;
}
