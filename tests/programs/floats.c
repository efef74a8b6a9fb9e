/* Asks which floating-point exceptions its threads have raised, all of whose own arithmetic is on integers: `floats` prints
 * them; with `trap` it has them end it; with `up` it rounds upward, too. Regions, tasks, locks, phases, a child and threads of its own.
 *
 *     floats flags|trap|up MILLISECONDS */
#include <fenv.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "blame.h"

static omp_lock_t lock;
static volatile long sink;
static int traps, up;
static long length_ms;

static long now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void work(int count)
{
    for (int i = 0; i < count; i++)
        sink = i;
}

/* The calling thread's environment from here on. */
static void set(void)
{
    feclearexcept(FE_ALL_EXCEPT); /* what the runtime itself has raised by then */
    if (traps)
        feenableexcept(FE_ALL_EXCEPT);
    if (up)
        fesetround(FE_UPWARD);
}

/* What is not as it was left: exceptions, and another bit for the rounding. */
static int changed(void)
{
    return fetestexcept(FE_ALL_EXCEPT) | (fegetround() != (up ? FE_UPWARD : FE_TONEAREST)) << 16;
}

static void step(int number)
{
    blame_iteration_begin("step", number);
#pragma omp parallel num_threads(2)
    {
        blame_phase_begin("locked");
        for (int i = 0; i < 20; i++) {
            omp_set_lock(&lock);
            work(2000);
            omp_unset_lock(&lock);
#pragma omp critical
            work(500);
        }
        blame_phase_end("locked");
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < 20; i++) {
#pragma omp task
            {
                blame_event_begin("task");
                work(3000);
                blame_event_end("task");
            }
        }
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; i++)
            work(i * 500);
    }
    blame_iteration_end("step");
}

/* A thread has the environment of the one that makes it. */
static void *other(void *raised)
{
#pragma omp parallel num_threads(1)
    work(100000);
    *(int *)raised |= changed();
    return NULL;
}

static int child(void)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
#pragma omp parallel num_threads(1)
        work(100000);
        _exit(changed() ? 1 : 0);
    }
    waitpid(pid, &status, 0);
    return status ? 1 << 17 : 0;
}

int main(int argc, char **argv)
{
    int raised = 0;
    traps = argc > 1 && strcmp(argv[1], "trap") == 0;
    up = argc > 1 && strcmp(argv[1], "up") == 0;
    length_ms = argc > 2 ? atol(argv[2]) : 300;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    set();
    long end = now_ms() + length_ms;
    for (int number = 0; now_ms() < end; number++) {
        step(number);
        if (number % 8 == 2) {
            omp_control_tool(omp_control_tool_pause, 0, NULL);
            omp_control_tool(omp_control_tool_start, 0, NULL);
        }
        if (number % 8 == 4) {
            pthread_t thread;
            pthread_create(&thread, NULL, other, &raised);
            pthread_join(thread, NULL);
        }
    }
    raised |= child();
#pragma omp parallel num_threads(2) reduction(| : raised)
    raised |= changed();
    omp_control_tool(omp_control_tool_end, 0, NULL);
    raised |= changed();
    printf("changed: %#x\n", raised);
    return 0;
}
