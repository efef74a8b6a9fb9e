/* Wrong nestings: each kind several times, so that one line for each is one line and not more. */
#include "analytic.h"
#include "blame.h"

NAMED static void crossed(void)
{
    blame_phase_begin("whole");
    blame_phase_begin("part");
    spin_until(clock_s() + 0.01);
    blame_phase_end("whole");
    blame_phase_end("part");
}

NAMED static void never_begun(void)
{
    blame_event_end("never begun");
}

NAMED static void left_in_region(void)
{
    blame_phase_begin("left in region");
    spin_until(clock_s() + 0.01);
}

int main(void)
{
    for (int repetition = 0; repetition < 3; repetition++) {
        crossed();
        never_begun();
#pragma omp parallel num_threads(2)
        left_in_region();
    }
    blame_phase_begin("after");
    spin_until(clock_s() + 0.2);
    blame_phase_end("after");
    blame_phase_begin("left at exit");
    spin_until(clock_s() + 0.1);
    puts("done");
    return 0;
}
