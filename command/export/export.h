/* Profiles in the formats of other programs. docs/options-and-files.md says what becomes of rows and metrics in each.
 *
 * Every format has the functions, constructs and pseudo rows of the tree; statement rows, whose cost is their
 * function's already, are source lines in pprof and left out elsewhere. So sums over what a format has are
 * those over the functions of profile.csv. */
#ifndef BLAME_COMMAND_EXPORT_EXPORT_H
#define BLAME_COMMAND_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "command/profile/profile.h"
#include "command/rows/metric.h"

struct export_input; /* command/export/formats.h */

/* speedscope's file format 0.0.1: a sampled profile for each metric, `metric` shown first, or it alone. */
void export_speedscope(FILE *out, const struct profile *profile, const struct rows *rows, enum metric metric,
                       bool alone);

/* pprof's gzipped protobuf; all metrics, `metric` is the one that readers show unasked. false: the stream is in
 * error and errno says why. */
bool export_pprof(FILE *out, const struct export_input *input);

/* JSON for Hatchet's GraphFrame.from_json; all metrics. */
bool export_hatchet(FILE *out, const struct export_input *input);

/* Folded stacks, "a;b;c value": the value of each row itself, with what was cut below it, in whole
 * microseconds (or samples, or events); rows with less than one are left out. */
void export_folded(FILE *out, const struct rows *rows, enum metric metric);

/* Cube 4's archive: effort and its parts, the other metrics, calls and exact times of phases, counters; by location. false: as pprof's. */
bool export_cube(FILE *out, const struct export_input *input);

/* A database for hpcviewer, in a directory that is there and empty. false: errno says why. */
bool export_hpctoolkit(const char *directory, const struct export_input *input);

/* Profiles for TAU's pprof and ParaProf, in a directory that is there and empty. false: as above. */
bool export_tau(const char *directory, const struct export_input *input);

struct traced_process; /* command/export/traced.h: rows and traces are to be set */

/* Perfetto's trace: states, stack samples, counters and phases of threads over time. false: as above. */
bool export_perfetto(FILE *out, const struct export_input *input);

/* The processed profile of profiler.firefox.com: samples, counters, and markers for phases and for idle time. */
void export_firefox(FILE *out, struct traced_process *processes, size_t count);

/* The unit of a metric's whole values: nanoseconds, or none. */
static inline bool export_in_ns(const struct rows *rows, enum metric metric)
{
    return metric != METRIC_SAMPLES && !rows->events;
}

/* The nearest whole number; what does not fit is the nearest that does. */
int64_t export_whole(double value);

/* A row's value in whole nanoseconds, events or samples. */
int64_t export_value(const struct rows *rows, const struct profile_sums *sums, enum metric metric);

/* The sum of what rows themselves have less than nothing of, in seconds, not above 0: formats of stacks have
 * no negative values. */
double export_negative(const struct rows *rows, enum metric metric);

#endif
