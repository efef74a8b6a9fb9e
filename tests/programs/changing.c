/* A program that changes at a time by the clock, and one whose every eighth step is longer.
 *
 *     changing refines        from 0.5 to 1.2 s three quarters of the time are refine's, one thread alone
 *     changing steady         the same from the begin
 *     changing checkpoints    64 steps of 15 ms, every eighth has 30 ms of checkpoint more
 *
 * Work is sleeping until a time by the clock: who is busy when depends on the machine only if threads start or wake late. How late
 * they were is printed for each step: "step", when it began, in seconds after `changed`, and the sum over the threads in seconds. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "blame.h"

#define NAMED      __attribute__((noinline))
#define MOST_STEPS 200

static struct step {
    double begin, late;
} steps[MOST_STEPS];
static int step_count;
static double late[2]; /* of each thread in the current step */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#define WORK_UNTIL(begin, end)                                                                                         \
    do {                                                                                                               \
        struct timespec end_ = {(time_t)(end), (long)(((end) - (double)(time_t)(end)) * 1e9)};                         \
        double before_ = now();                                                                                        \
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end_, NULL) != 0)                                      \
            ;                                                                                                          \
        late[omp_get_thread_num()] += before_ - (begin) + now() - (end);                                               \
    } while (0)

NAMED static void refine(double begin, double end)
{
    WORK_UNTIL(begin, end);
}

NAMED static void checkpoint(double begin, double end)
{
    WORK_UNTIL(begin, end);
}

NAMED static void solve(double begin, double end)
{
#pragma omp parallel num_threads(2)
    WORK_UNTIL(begin, end);
}

/* Returns when the step ended that should have lasted from `begin` to `end`. */
static double step_end(double begin, double end)
{
    double ended = now();
    if (step_count < MOST_STEPS)
        steps[step_count++] = (struct step){begin, late[0] + late[1] + ended - end};
    late[0] = late[1] = 0;
    return ended;
}

/* Steps of 12 ms, of which that part is refine's. */
NAMED static double run_until(double begin, double end, double part)
{
    while (begin < end) {
        double middle = begin + (1 - part) * 0.012, step = begin + 0.012;
        if (part < 1)
            solve(begin, middle);
        if (part > 0)
            refine(middle, step);
        begin = step_end(begin, step);
    }
    return begin;
}

int main(int argc, char **argv)
{
    const char *how = argc == 2 ? argv[1] : "";
    solve(now(), now() + 0.001); /* the runtime starts */
    late[0] = late[1] = 0;
    double begin = now(), changed = begin, time = begin;
    if (strcmp(how, "refines") == 0) {
        changed = run_until(begin, begin + 0.5, 0);
        blame_phase_begin("changed");
        run_until(changed, begin + 1.2, 0.75);
        blame_phase_end("changed");
    } else if (strcmp(how, "steady") == 0)
        run_until(begin, begin + 1.2, 0.75);
    for (int step = 0; strcmp(how, "checkpoints") == 0 && step < 64; step++) {
        double solved = time + 0.015, end = step % 8 == 7 ? solved + 0.03 : solved;
        blame_iteration_begin("step", step);
        solve(time, solved);
        if (end > solved)
            checkpoint(solved, end);
        blame_iteration_end("step");
        time = step_end(time, end);
    }
    for (int i = 0; i < step_count; i++)
        printf("step %.6f %.6f\n", steps[i].begin - changed, steps[i].late);
    return 0;
}
