/* Wrong nestings: each kind several times, so that one line for each is one line and not more. */
#include <setjmp.h>

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

static jmp_buf back;

/* More than a thread may have open, and left without their ends. */
NAMED static void left_by_jump(int depth)
{
    blame_event_begin("left by jump");
    if (depth == 0)
        longjmp(back, 1);
    if (depth > 0)
        left_by_jump(depth - 1);
    blame_event_end("left by jump");
}

NAMED static void around_jump(void)
{
    blame_phase_begin("around jump");
    if (!setjmp(back))
        left_by_jump(400);
    blame_phase_end("around jump");
}

NAMED static void many_left_in_region(void)
{
    for (int i = 0; i < 400; i++)
        blame_event_begin("many left over");
}

NAMED static void tab_in_name(void)
{
    blame_phase_begin("tab\tin name");
    blame_phase_begin("inside tab");
    blame_phase_end("tab\tin name");
}

int main(void)
{
    for (int repetition = 0; repetition < 3; repetition++) {
        crossed();
        never_begun();
#pragma omp parallel num_threads(2)
        left_in_region();
    }
    tab_in_name();
    around_jump();
#pragma omp parallel num_threads(2)
    many_left_in_region();
    blame_phase_begin("after");
    spin_until(clock_s() + 0.2);
    blame_phase_end("after");
    blame_phase_begin("left at exit");
    spin_until(clock_s() + 0.1);
    puts("done");
    return 0;
}
