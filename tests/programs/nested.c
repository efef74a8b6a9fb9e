/* Nested regions: the inner teams' work belongs below main > outer > inner, whichever thread did it, and the
 * longer share of the inner loop carries the idleness. Run it with OMP_MAX_ACTIVE_LEVELS=2. */
#include "analytic.h"

static int inner_line, outer_line;

NAMED static void long_share(void)
{
    work_for("long_share", 0.1207);
}

NAMED static void short_share(void)
{
    work_for("short_share", 0.0503);
}

NAMED static void inner(void)
{
    inner_line = __LINE__ + 1;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1)
            long_share();
        else
            short_share();
        __asm__ volatile(""); /* no tail call: tail_call.c is about those */
    }
    __asm__ volatile("");
}

NAMED static void outer(void)
{
    outer_line = __LINE__ + 1;
#pragma omp parallel num_threads(2)
    {
        inner();
        __asm__ volatile("");
    }
    __asm__ volatile("");
}

int main(void)
{
    for (int repetition = 0; repetition < 15; repetition++)
        outer();
    print_expectations(4);
    const char *const shares[] = {"long_share", "short_share"};
    for (int i = 0; i < 2; i++)
        printf("path %.6f main > outer > outer [parallel nested.c:%d] > inner > inner [parallel nested.c:%d] "
               "> %s\n",
               recorded_work(shares[i]), outer_line, inner_line, shares[i]);
    return 0;
}
