/* What blame diff is tried on: two regions of one function, one of them with unequal shares; the longer one
 * is also a lambda's. SLOW_S: how long it takes. MOVED: another build of the same cost, whose lines have
 * moved, and whose lambdas have other numbers. */
#define _Thread_local thread_local
#include "analytic.h"

#ifndef SLOW_S
#define SLOW_S 0.1207
#endif
#ifdef MOVED
#line 701
#else
#line 101
#endif

NAMED static void slow()
{
    work_for("slow", SLOW_S);
}

NAMED static void fast()
{
    work_for("fast", 0.0307);
}

NAMED static void steady()
{
    work_for("steady", 0.0453);
}

template <typename Body> NAMED static void apply(Body body)
{
    body();
    __asm__ volatile("" : : : "memory"); /* no tail call */
}

static void repeat()
{
#ifdef MOVED
#line 805
    apply([] { work_for("new_lambda", 0.0103); });
#line 810
#else
#line 207
#endif
    apply([] {
        slow();
        __asm__ volatile("" : : : "memory");
    });
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0)
            slow();
        else
            fast();
    }
#ifdef MOVED
#line 850
#endif
#pragma omp parallel num_threads(2)
    steady();
}

int main()
{
    for (int repetition = 0; repetition < 2; repetition++)
        repeat();
    print_expectations(2);
    return 0;
}
