/* Many runs, each in a process of its own, some side by side. */
#ifndef BLAME_TESTS_SIMULATOR_BATCH_H
#define BLAME_TESTS_SIMULATOR_BATCH_H

#include "tests/simulator/run.h"

struct batch {
    const struct scenario *scenario; /* NULL: a random one for each seed */
    struct sim_options options;
    uint64_t first_seed;
    uint32_t count;
    uint64_t stop_step; /* unless 0: one seed, stopped at event first_seed, + step, + 2 step ... */
    void (*take)(uint64_t seed, const struct run *run, void *argument); /* in the order of their ends */
    void *argument;
};

extern uint32_t batch_jobs;
extern struct batch_totals {
    uint64_t runs, events, samples;
} batch_totals;

void batch_run(const struct batch *batch);

/* One run; the result stays until the next. */
const struct run *batch_once(const struct scenario *scenario, uint64_t seed, const struct sim_options *options);

#endif
