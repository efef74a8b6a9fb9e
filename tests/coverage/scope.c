/* The scope construct, with a reduction: the barrier at its end waits for slow_share(). */
#include "coverage.h"

static bool scope(void)
{
    int sum = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp scope reduction(+ : sum)
        sum += uneven(omp_get_thread_num());
        STAY;
    }
    return sum == 3;
}

static const struct construct constructs[] = {
    {"scope", scope, 0},
};

COVERAGE_MAIN(constructs)
