/* PAPI, loaded only when it is asked for: which events there are, and what the kernel has to count for them.
 * It is closed again before the program runs on: nothing of it runs in the program's threads. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_PAPI_H
#define BLAME_OMPT_TOOL_COUNTERS_PAPI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/perf_event.h"
#include "ompt_tool/counters/counter_names.h"

#define PAPI_PARTS 8u /* most native events of a preset */

/* One of PAPI's events by what the kernel counts: the sum of its parts, or the first less the others. */
struct papi_event {
    uint32_t parts;
    bool subtract;
    struct perf_event part[PAPI_PARTS];
};

/* Loads and initialises the library; otherwise false and why. A program that has initialised it before shares
 * it. [init] */
bool papi_open(char *why, size_t bytes);
void papi_close(void); /* [init] */

/* What has to be counted for the event of that name; otherwise false and why. [init] */
bool papi_find(const char *name, struct papi_event *event, char *why, size_t bytes);

/* The names nearest to that one, presets and native events, among those that `works` accepts. [init] */
void papi_find_nearest(const char *wanted, bool (*works)(const struct papi_event *event),
                       struct counter_nearest *nearest);

#endif
