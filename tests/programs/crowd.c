/* Teams of argv[1] threads, each of which works a little. argv[2]: the exit status. */
#include "analytic.h"

enum { REGIONS = 4, STEPS = 20000 };

NAMED static long share(void)
{
    volatile long sum = 0;
    for (int i = 0; i < STEPS; i++)
        sum += i % 3;
    return sum;
}

int main(int argc, char **argv)
{
    long sum = 0;
    int members = 0;
    for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel num_threads(argc > 1 ? atoi(argv[1]) : 4) reduction(+ : sum, members)
        {
            sum += share();
            members++;
        }
    }
    printf("members %d, sum %ld\n", members, sum);
    return argc > 2 ? atoi(argv[2]) : 0;
}
