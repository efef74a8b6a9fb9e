/* What must hold, each a test: prints a line, and is false when it does not. */
#ifndef BLAME_TESTS_SIMULATOR_CLAIMS_H
#define BLAME_TESTS_SIMULATOR_CLAIMS_H

#include <stdbool.h>

#include "tests/simulator/run.h"

struct claim_settings {
    uint32_t seeds;
    uint64_t first_seed;
    struct sim_options options;
    bool figures; /* all are printed */
};

/* Over many seeds each figure's error lies within the interval of docs/accounting.md, and is 0 on average. */
bool claim_interval(const struct scenario *scenario, const struct claim_settings *settings);

/* Contexts told at a region's begin are those told at its end; what happens at one time has no order. */
bool claim_same(const struct scenario *scenario, const struct claim_settings *settings, const char *what);

/* Stopped at any event, what is there can be read, and its books balance. */
bool claim_stopped(const struct scenario *scenario, const struct claim_settings *settings);

/* A runtime that leaves out an optional event, or ompt_get_task_info: the laws hold of what it tells. */
bool claim_untold(const struct scenario *scenario, const struct claim_settings *settings);

/* The first for random scenarios, each with one seed; the least one that fails is printed. */
bool claim_random(const struct claim_settings *settings);

#endif
