/* Long critical sections, named and unnamed: each section's holder gets the waiting for its own lock. */
#include "analytic.h"

static const char unnamed_lock, named_lock;

NAMED static void unnamed_section(double hold_s)
{
    double got_s, asked_s = clock_s();
#pragma omp critical
    {
        got_s = clock_s();
        spin_until(got_s + hold_s);
    }
    record_lock("unnamed_section", &unnamed_lock, asked_s, got_s, clock_s());
}

NAMED static void named_section(double hold_s)
{
    double got_s, asked_s = clock_s();
#pragma omp critical(table)
    {
        got_s = clock_s();
        spin_until(got_s + hold_s);
    }
    record_lock("named_section", &named_lock, asked_s, got_s, clock_s());
}

int main(void)
{
    for (int repetition = 0; repetition < 10; repetition++) {
#pragma omp parallel num_threads(2)
        {
            unnamed_section(0.0403);
#pragma omp barrier
            named_section(0.0607);
        }
    }
    print_expectations(2);
    return 0;
}
