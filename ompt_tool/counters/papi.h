/* PAPI, loaded only on request: which events exist, and what the kernel must count for them. It is closed
 * before the program continues: none of it runs in the program's threads. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_PAPI_H
#define BLAME_OMPT_TOOL_COUNTERS_PAPI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/perf_event.h"
#include "ompt_tool/counters/counter_names.h"

#define PAPI_PARTS 8u /* most native events of a preset */

/* One of PAPI's events in terms of the kernel's: the sum of its parts, or the first minus the others. */
struct papi_event {
    uint32_t parts;
    bool subtract;
    struct perf_event part[PAPI_PARTS];
};

/* Loads and initialises the library; returns false with the reason in *why. If the program has initialised it
 * before, both share it. [init] */
bool papi_open(char *why, size_t bytes);
void papi_close(void); /* [init] */

/* Finds what must be counted for the event of that name; returns false with the reason in *why. [init] */
bool papi_find(const char *name, struct papi_event *event, char *why, size_t bytes);

/* Finds the names nearest to `wanted`, presets and native events, among those that `works` accepts. [init] */
void papi_find_nearest(const char *wanted, bool (*works)(const struct papi_event *event),
                       struct counter_nearest *nearest);

#endif
