/* Uses PAPI to find out which events exist and what the kernel must count for them. PAPI is loaded only on
 * request and closed before the program continues, so it never runs in the program's threads. */
#ifndef BLAME_OMPT_TOOL_COUNTERS_PAPI_H
#define BLAME_OMPT_TOOL_COUNTERS_PAPI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/perf_event.h"
#include "ompt_tool/counters/counter_names.h"

#define PAPI_PARTS 8u /* greatest number of native events in a preset */

/* A PAPI event in terms of the kernel's events. Its value is the sum of its parts, or the first part minus
 * the others. */
struct papi_event {
    uint32_t parts;
    bool subtract;
    struct perf_event part[PAPI_PARTS];
};

/* Loads and initialises PAPI. Returns false with the reason in *why. If the program initialised PAPI before,
 * both share it. [init] */
bool papi_open(char *why, size_t bytes);
void papi_close(void); /* [init] */

/* Finds what the kernel must count for the event with that name. Returns false with the reason in *why.
 * [init] */
bool papi_find(const char *name, struct papi_event *event, char *why, size_t bytes);

/* Finds the names nearest to `wanted` among the presets and native events that `works` accepts. [init] */
void papi_find_nearest(const char *wanted, bool (*works)(const struct papi_event *event),
                       struct counter_nearest *nearest);

#endif
