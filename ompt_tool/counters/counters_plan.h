/* The counters that BLAME_COUNTERS and BLAME_SAMPLE request, as far as this machine has them and the user may
 * use them. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTERS_PLAN_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTERS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/perf_event.h"
#include "cct/profile_metrics.h"
#include "ompt_tool/counters/counter_names.h"

struct counters_plan_entry {
    char name[COUNTER_NAME_BYTES];
    /* the counter's parts: index of the first one in counters_plan.event, and their number */
    uint32_t first, parts;
    bool subtract; /* true: the value is the first part minus the others; false: the sum of the parts */
};

/* The plan, which is constant after counters_plan_init(). */
extern struct counters_plan {
    uint32_t count;
    struct counters_plan_entry entry[PROFILE_COUNTERS];
    uint32_t events;
    struct perf_event event[PERF_GROUP_EVENTS];
    uint64_t sample_period; /* number of events between two samples; 0: samples are taken by a clock */
    struct perf_event sample_event;
    char text[PROFILE_COUNTERS * COUNTER_NAME_BYTES], sample_text[COUNTER_NAME_BYTES + 24];
} counters_plan;

/* Finds out which requested counters can be used. Prints a line on stderr for each of the others. [init] */
void counters_plan_init(void);

/* counters_plan_text() returns the names of the counters, separated by '\n'; counters_plan_sample_text()
 * returns the EVENT@PERIOD of the samples. Each returns NULL if there is nothing to count. [any] */
const char *counters_plan_text(void);
const char *counters_plan_sample_text(void);

/* Returns the weight p of a sample that an overflow causes, with 10^9 ns for each event; 0 if samples are
 * taken by a clock. [any] */
uint64_t counters_plan_sample_period_ns(void);

#endif
