/* Tail calls at -O2. ends_in_region() jumps into the runtime and the region's body jumps to
 * body_ends_in_call(): neither jumping frame is on the stack, yet no row may silently become its caller's. */
#include "analytic.h"

static int region_line;

NAMED static void body_ends_in_call(void)
{
    work_for("body_ends_in_call", 0.1207);
}

NAMED static void ends_in_region(void)
{
    region_line = __LINE__ + 1;
#pragma omp parallel num_threads(2)
    body_ends_in_call();
}

NAMED static void caller(void)
{
    ends_in_region();
    __asm__ volatile("");
}

int main(void)
{
    for (int repetition = 0; repetition < 10; repetition++)
        caller();
    print_expectations(2);
    printf("path %.6f main > caller > ends_in_region > ends_in_region [parallel tail_call.c:%d] > "
           "body_ends_in_call\n",
           recorded_work("body_ends_in_call"), region_line);
    return 0;
}
