/* Nanoseconds of a begin and end of include/blame.h: the fastest of many batches, as what slows a batch down
 * has nothing to do with the calls. Without the tool it is what they cost when nobody listens.
 * Usage: probes [batches]; prints `case nanoseconds` a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <omp.h>

#include "include/blame.h"

#define COUNT 2000 /* pairs in a batch */

static int batches = 300;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double fastest;

static void note(double begin_ns)
{
    double ns = (now_ns() - begin_ns) / COUNT;
    if (fastest == 0 || ns < fastest)
        fastest = ns;
}

static __attribute__((noinline)) void events(void)
{
    for (int batch = 0; batch < batches; batch++) {
        double begin_ns = now_ns();
        for (int i = 0; i < COUNT; i++) {
            blame_event_begin("event");
            blame_event_end("event");
        }
        note(begin_ns);
    }
}

static __attribute__((noinline)) void nested_events(void)
{
    blame_phase_begin("around");
    for (int batch = 0; batch < batches; batch++) {
        double begin_ns = now_ns();
        for (int i = 0; i < COUNT; i++) {
            blame_event_begin("event");
            blame_event_end("event");
        }
        note(begin_ns);
    }
    blame_phase_end("around");
}

static __attribute__((noinline)) void parameters(void)
{
    blame_phase_begin("around");
    for (int batch = 0; batch < batches; batch++) {
        double begin_ns = now_ns();
        for (int i = 0; i < COUNT; i++) {
            blame_parameter_begin("size", i & 3);
            blame_parameter_end("size");
        }
        note(begin_ns);
    }
    blame_phase_end("around");
}

/* Each is new: a row is made for it. */
static __attribute__((noinline)) void iterations(void)
{
    static int64_t number;
    blame_phase_begin("around");
    for (int batch = 0; batch < 5; batch++) {
        double begin_ns = now_ns();
        for (int i = 0; i < COUNT; i++) {
            blame_iteration_begin("iteration", number++);
            blame_iteration_end("iteration");
        }
        note(begin_ns);
    }
    blame_phase_end("around");
}

static __attribute__((noinline)) int descend(int left, void (*leaf)(void))
{
    int result = left;
    if (left > 0)
        result += descend(left - 1, leaf);
    else
        leaf();
    __asm__ volatile("" : "+r"(result)); /* each level keeps its frame */
    return result;
}

static void five_frames_in(void)
{
    blame_phase_begin("around");
    descend(4, events);
    blame_phase_end("around");
}

static void at_twenty_frames(void)
{
    descend(18, events);
}

static void report(const char *name, void (*run)(void))
{
    fastest = 0;
    run();
    printf("%s %.1f\n", name, fastest);
}

int main(int argc, char **argv)
{
    batches = argc > 1 ? atoi(argv[1]) : batches;
    if (batches < 1)
        return fputs("usage: probes [batches]\n", stderr), 2;
    omp_get_max_threads();
    report("same-frame", nested_events);
    report("no-phase-around", events);
    report("five-frames-in", five_frames_in);
    report("at-20-frames", at_twenty_frames);
    report("parameter", parameters);
    report("new-iteration", iterations);
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp master
        report("in-a-region", nested_events);
    }
    return 0;
}
