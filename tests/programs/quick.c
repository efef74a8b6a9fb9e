/* A short OpenMP program with a fixed output, for tests of options and directories. argv[1]: its exit status.
 */
#include "analytic.h"

NAMED static int quick_share(void)
{
    spin_until(clock_s() + 0.06);
    return omp_get_thread_num() + 1;
}

int main(int argc, char **argv)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += quick_share();
    printf("sum %d\n", sum);
    fprintf(stderr, "the program's own line\n");
    return argc > 1 ? atoi(argv[1]) : 0;
}
