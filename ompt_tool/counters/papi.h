/* Finds out, by PAPI, which events exist and what the kernel must count for them. PAPI is loaded only if it
 * is needed, and closed before the program continues, so it never runs in the program's threads. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_PAPI_H
#define BLAME_OMPT_TOOL_COUNTERS_PAPI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/perf_event.h"
#include "ompt_tool/counters/counter_names.h"

/* maximum number of native events in a preset (an event that PAPI defines by native ones) */
#define PAPI_PARTS 8u

/* A PAPI event, expressed by the kernel's events. Its value is the sum of its parts, or its first part minus
 * the others. */
struct papi_event {
    uint32_t parts;
    bool subtract;
    struct perf_event part[PAPI_PARTS];
};

/* Loads and initialises PAPI. Returns false with the reason in `why`. If the program initialised PAPI before,
 * the tool shares PAPI with it. [init] */
bool papi_open(char *why, size_t bytes);
void papi_close(void); /* [init] */

/* Finds what the kernel must count for the event with this name. Returns false with the reason in `why`.
 * [init] */
bool papi_find(const char *name, struct papi_event *event, char *why, size_t bytes);

/* Finds the names that are most similar to `wanted`, among the presets and native events that `works`
 * accepts. [init] */
void papi_find_nearest(const char *wanted, bool (*works)(const struct papi_event *event),
                       struct counter_nearest *nearest);

#endif
