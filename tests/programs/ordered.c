/* Ordered sections that are the whole iteration: each thread waits for its turn while the other has it. */
#include "analytic.h"

static const char turn;
static double even_released_s, odd_released_s;

NAMED static void even_section(double asked_s)
{
    double got_s = clock_s();
    spin_until(got_s + 0.0509);
    even_released_s = clock_s();
    record_lock("even_section", &turn, asked_s, got_s, even_released_s);
}

NAMED static void odd_section(double asked_s)
{
    double got_s = clock_s();
    spin_until(got_s + 0.0207);
    odd_released_s = clock_s();
    record_lock("odd_section", &turn, asked_s, got_s, odd_released_s);
}

/* The release is the end of the ordered block, in the construct's own body: its blame lands on the region's
 * row, not on the two sections. So the program states the waiting that the whole region hands out. */
int main(void)
{
    enum { TURNS = 40 };
#pragma omp parallel num_threads(2)
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < TURNS; i++) {
            double asked_s = clock_s();
#pragma omp ordered
            {
                if (i % 2 == 0)
                    even_section(asked_s);
                else
                    odd_section(asked_s);
            }
        }
    }
    sweep(2);
    const struct blamed *even = blamed_row("even_section"), *odd = blamed_row("odd_section");
    expect("work", "even_section", even->work);
    expect("work", "odd_section", odd->work);
    expect("lock_wait", "main", even->lock_wait + odd->lock_wait);
    expect("lock_wait_here", "main", even->lock_wait_here + odd->lock_wait_here);
    return 0;
}
