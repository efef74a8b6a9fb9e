/* analytic.h for Fortran: what a procedure did is recorded under the number of its name. */
#include <stdbool.h>

#include "../programs/analytic.h"

static const char *const names[] = {"slow_share", "fast_share", "critical_section", "lock_section", "run_construct"};
static const char lock;

double coverage_clock(void)
{
    return clock_s();
}

void coverage_spin(double end_s)
{
    spin_until(end_s);
}

void coverage_work(int name, double seconds)
{
    work_for(names[name], seconds);
}

void coverage_lock(int name, double asked_s, double got_s, double released_s)
{
    record_lock(names[name], &lock, asked_s, got_s, released_s);
}

void coverage_finish(bool right)
{
    printf("%s\n", right ? "right" : "wrong");
    print_expectations(2);
    exit(right ? 0 : 1);
}
