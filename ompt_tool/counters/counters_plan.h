/* What BLAME_COUNTERS and BLAME_SAMPLE ask for, as far as this machine can do it. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTERS_PLAN_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTERS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/perf_event.h"
#include "cct/profile_metrics.h"
#include "ompt_tool/counters/counter_names.h"

struct counters_plan_entry {
    char name[COUNTER_NAME_BYTES];
    uint32_t first, parts; /* of counters_plan.event */
    bool subtract;         /* the first less the others, not their sum */
};

/* Never changed after counters_plan_init(). */
extern struct counters_plan {
    uint32_t count;
    struct counters_plan_entry entry[PROFILE_COUNTERS];
    uint32_t events;
    struct perf_event event[PERF_GROUP_EVENTS];
    uint64_t sample_period; /* 0: samples by a clock */
    struct perf_event sample_event;
    char text[PROFILE_COUNTERS * COUNTER_NAME_BYTES], sample_text[COUNTER_NAME_BYTES + 24];
} counters_plan;

/* Finds out which of the counters that the options ask for there are; each other is named on stderr. [init] */
void counters_plan_init(void);

/* Names of the counters that there are, separated by '\n'; EVENT@PERIOD of the samples. NULL: none. [any] */
const char *counters_plan_text(void);
const char *counters_plan_sample_text(void);

/* p of a sample by overflow, events as nanoseconds of seconds; 0: a clock tells when to sample. [any] */
uint64_t counters_plan_sample_period_ns(void);

#endif
