/* The counters of BLAME_COUNTERS and BLAME_SAMPLE that this machine has. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_COUNTERS_PLAN_H
#define BLAME_OMPT_TOOL_COUNTERS_COUNTERS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/perf_event.h"
#include "cct/profile_metrics.h"
#include "ompt_tool/counters/counter_names.h"

struct counters_plan_entry {
    char name[COUNTER_NAME_BYTES];
    uint32_t first, parts; /* indices in counters_plan.event */
    bool subtract;         /* the first minus the others, instead of their sum */
};

/* Constant after counters_plan_init(). */
extern struct counters_plan {
    uint32_t count;
    struct counters_plan_entry entry[PROFILE_COUNTERS];
    uint32_t events;
    struct perf_event event[PERF_GROUP_EVENTS];
    uint64_t sample_period; /* 0: samples by a clock */
    struct perf_event sample_event;
    char text[PROFILE_COUNTERS * COUNTER_NAME_BYTES], sample_text[COUNTER_NAME_BYTES + 24];
} counters_plan;

/* Finds out which of the requested counters exist; names each missing one on stderr. [init] */
void counters_plan_init(void);

/* Return the names of the existing counters, separated by '\n'; and the samples' EVENT@PERIOD. NULL: none.
 * [any] */
const char *counters_plan_text(void);
const char *counters_plan_sample_text(void);

/* Returns the weight p of a sample by overflow, one event as a second of ns; 0: a clock decides when to
 * sample. [any] */
uint64_t counters_plan_sample_period_ns(void);

#endif
