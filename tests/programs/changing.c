/* A program that changes at a time by the clock, and one whose every eighth step is longer.
 *
 *     changing refines        from 0.5 to 1.2 s three quarters of the time are refine's, one thread alone
 *     changing steady         the same from the begin
 *     changing checkpoints    64 steps of 15 ms, every eighth has 30 ms of checkpoint more
 *
 * Work is sleeping until a time by the clock: who is busy when depends neither on the machine nor on what else it does. */
#include <string.h>
#include <time.h>

#include "blame.h"

#define NAMED __attribute__((noinline))

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#define WORK_UNTIL(end)                                                                                                \
    do {                                                                                                               \
        struct timespec end_ = {(time_t)(end), (long)(((end) - (double)(time_t)(end)) * 1e9)};                         \
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end_, NULL) != 0)                                      \
            ;                                                                                                          \
    } while (0)

NAMED static void refine(double end)
{
    WORK_UNTIL(end);
}

NAMED static void checkpoint(double end)
{
    WORK_UNTIL(end);
}

NAMED static void solve(double end)
{
#pragma omp parallel num_threads(2)
    WORK_UNTIL(end);
}

/* Steps of 12 ms, of which that part is refine's. */
NAMED static void run_until(double end, double part)
{
    while (now() < end) {
        double step = now();
        if (part < 1)
            solve(step + (1 - part) * 0.012);
        if (part > 0)
            refine(step + 0.012);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc == 2 ? argv[1] : "";
    solve(now() + 0.001); /* the runtime starts */
    double begin = now();
    if (strcmp(how, "refines") == 0) {
        run_until(begin + 0.5, 0);
        blame_phase_begin("changed");
        run_until(begin + 1.2, 0.75);
        blame_phase_end("changed");
    } else if (strcmp(how, "steady") == 0)
        run_until(begin + 1.2, 0.75);
    for (int step = 0; strcmp(how, "checkpoints") == 0 && step < 64; step++) {
        blame_iteration_begin("step", step);
        solve(now() + 0.015);
        if (step % 8 == 7)
            checkpoint(now() + 0.03);
        blame_iteration_end("step");
    }
    return 0;
}
