/* Nanoseconds of a begin and end of include/blame.h: the fastest of many batches, as what slows a batch down
 * has nothing to do with the calls. Without the tool it is what they cost when nobody listens.
 * Usage: probes [batches]; prints `case nanoseconds` a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <omp.h>

#include "benchmarks/gate/descend.h"
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

/* A batch after the other, of pairs of calls in the calling function. */
#define TIME(how_many, begin, end)                                                                           \
    for (int batch = 0; batch < (how_many); batch++) {                                                       \
        double begin_ns = now_ns();                                                                          \
        for (int i = 0; i < COUNT; i++) {                                                                    \
            begin;                                                                                           \
            end;                                                                                             \
        }                                                                                                    \
        double ns = (now_ns() - begin_ns) / COUNT;                                                           \
        fastest = fastest == 0 || ns < fastest ? ns : fastest;                                               \
    }

static __attribute__((noinline)) void events(void)
{
    TIME(batches, blame_event_begin("event"), blame_event_end("event"))
}

static __attribute__((noinline)) void nested_events(void)
{
    blame_phase_begin("around");
    TIME(batches, blame_event_begin("event"), blame_event_end("event"))
    blame_phase_end("around");
}

static __attribute__((noinline)) void parameters(void)
{
    blame_phase_begin("around");
    TIME(batches, blame_parameter_begin("size", i & 3), blame_parameter_end("size"))
    blame_phase_end("around");
}

/* Each is new: a row is made for it. */
static __attribute__((noinline)) void iterations(void)
{
    static int64_t number;
    blame_phase_begin("around");
    TIME(5, blame_iteration_begin("iteration", number++), blame_iteration_end("iteration"))
    blame_phase_end("around");
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
