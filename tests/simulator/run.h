/* One run: a scenario, a seed, the plugin's options; what the profile says beside what is exact. */
#ifndef BLAME_TESTS_SIMULATOR_RUN_H
#define BLAME_TESTS_SIMULATOR_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/simulator/scenario.h"

#define FIGURE_NAME 80
#define MAX_FIGURES 1024u

enum figure_of { FIGURE_TOTAL, FIGURE_ROW, FIGURE_PLACE, FIGURE_WINDOW, FIGURE_OF_COUNT };

struct figure {
    char name[FIGURE_NAME];
    enum figure_of of;
    uint32_t metric;        /* enum exact_metric */
    double samples;         /* expected number of samples, if each adds as much as a sample can */
    double exact, measured; /* seconds */
    double deviation;       /* of the measured one, as docs/accounting.md derives it: a bound */
    double stated;          /* what a report says of the measured one: it is within +- that of the exact one */
};

struct sim_options {
    uint32_t rate, limit_s;
    bool eager, creation, at_release, shuffled;
    uint32_t untold;  /* an event of OMPT's (ompt_callbacks_t) that the runtime does not tell; 0: none */
    bool hides_tasks; /* there is no ompt_get_task_info */
    uint64_t stop_at; /* event; 0: to the end */
    const char *keep; /* where the measurement stays, with a trace; NULL: it is removed */
};

struct run {
    bool done;
    bool ended;        /* the program has: not stopped before */
    char failure[256]; /* a law that does not hold, or what else is wrong; "" */
    uint64_t seed, events, samples, digest;
    uint32_t chunks, figure_count;
    struct figure figures[MAX_FIGURES];
};

/* In a process of its own, which has done nothing of the kind before. */
void run_here(const struct scenario *scenario, uint64_t seed, const struct sim_options *options, struct run *run);

/* What runs have left that were killed, or crashed. */
void run_remove_left(void);

/* Plays to another tool, in this process: a shared library with ompt_start_tool. False: it does not start. */
bool run_with_tool(const struct scenario *scenario, uint64_t seed, const char *tool);

/* Fills in what the file says, and what is exact (measured.c). */
void measured_read(const struct scenario *scenario, const char *path, bool ended, struct run *run);

#endif
