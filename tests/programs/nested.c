/* Nested regions: the inner teams' work belongs below main > outer > inner, whichever thread did it, and the
 * longer share of the inner loop carries the idleness. Run it with OMP_MAX_ACTIVE_LEVELS=2.
 *
 * The end of an inner region is work for the runtime: libomp frees the inner team, and spins until each of its
 * threads has gone to its pool (__kmp_free_team). With more threads than cores that lasts until the kernel
 * gives the worker a core, milliseconds in which the primary thread is busy, and not idle. */
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
    double begin_s = clock_s(), shares_begin_s = 0, ends_s[2];
    inner_line = __LINE__ + 1;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) {
            long_share();
        } else {
            shares_begin_s = clock_s();
            short_share();
        }
        ends_s[omp_get_thread_num()] = clock_s();
        __asm__ volatile(""); /* no tail call: tail_call.c is about those */
    }
    record_interval(INTERVAL_RUNTIME, "inner", NULL, begin_s, shares_begin_s);
    record_interval(INTERVAL_RUNTIME, "inner", NULL, ends_s[0] > ends_s[1] ? ends_s[0] : ends_s[1], clock_s());
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
