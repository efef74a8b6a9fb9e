/* Inside a critical section: long_line() keeps the others waiting four times as long as short_line(), and the
 * release is in neither. With BLAME_LOCKS=section (the default) each gets the waiting that it caused, with
 * BLAME_LOCKS=release all of it goes to section(), below which the two are. */
#include "analytic.h"

static omp_lock_t lock;

NAMED static void long_line(void)
{
    double begin_s = clock_s();
    spin_until(begin_s + 0.0403);
    record_interval(INTERVAL_HOLD, "long_line", &lock, begin_s, clock_s());
}

NAMED static void short_line(void)
{
    double begin_s = clock_s();
    spin_until(begin_s + 0.0101);
    record_interval(INTERVAL_HOLD, "short_line", &lock, begin_s, clock_s());
}

NAMED static void section(void)
{
    double asked_s = clock_s();
    omp_set_lock(&lock);
    record_interval(INTERVAL_WAIT, "section", &lock, asked_s, clock_s());
    long_line();
    short_line();
    omp_unset_lock(&lock);
    __asm__ volatile("");
}

int main(void)
{
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int repetition = 0; repetition < 12; repetition++)
        section();
    sweep(2);
    const char *const lines[] = {"long_line", "short_line"};
    for (int i = 0; i < 2; i++) {
        expect("work", lines[i], blamed_row(lines[i])->work);
        expect("lock_wait", lines[i], blamed_row(lines[i])->lock_wait);
    }
    expect("lock_wait_here", "section", blamed_row("section")->lock_wait_here);
    return 0;
}
