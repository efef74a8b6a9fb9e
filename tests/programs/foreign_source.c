/* Debug information that names a file which is nobody's source: a report must not show what is in it. */
#include "analytic.h"

#line 1 "/etc/passwd"
NAMED static void spin_here(double end_s)
{
    while (clock_s() < end_s)
        for (int i = 0; i < 1000; i++)
            __asm__ volatile("");
}
#line 8 "foreign_source.c"

int main(void)
{
#pragma omp parallel num_threads(2)
    spin_here(clock_s() + 0.4);
    return 0;
}
