/* Writes profiles in the file formats of other tools. docs/options-and-files.md describes how each format
 * represents rows and metrics.
 *
 * Every format contains the functions, constructs and pseudo rows of the tree. pprof also contains statement
 * rows, as source lines. The other formats leave them out, because the own cost of a function includes its
 * statements. Therefore, in every format, all entries together have the same sums as the functions in
 * profile.csv. */
#ifndef BLAME_COMMAND_EXPORT_EXPORT_H
#define BLAME_COMMAND_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "command/profile/profile.h"
#include "command/rows/metric.h"

struct export_input; /* command/export/formats.h */

/* Writes speedscope's file format, version 0.0.1. It contains a sampled profile for each metric, and the
 * viewer shows that of `metric` first. If `alone` is set, it contains only that one. */
void export_speedscope(FILE *out, const struct profile *profile, const struct rows *rows, enum metric metric,
                       bool alone);

/* Writes pprof's gzipped protobuf format with all metrics. Readers show `metric` by default. Returns false
 * and sets errno if writing failed. */
bool export_pprof(FILE *out, const struct export_input *input);

/* Writes all metrics as JSON, which Hatchet's GraphFrame.from_json reads. */
bool export_hatchet(FILE *out, const struct export_input *input);

/* Writes folded stacks: lines of the form "a;b;c value". A value contains the own value of a row, and the
 * values of the rows below it that the view leaves out. Values are whole microseconds, samples or events.
 * Rows whose value rounds to 0 are omitted. */
void export_folded(FILE *out, const struct rows *rows, enum metric metric);

/* Writes a Cube 4 archive. For each location, it contains effort and its parts, the other metrics, the number
 * of calls and exact times of phases, and the counters. Returns false and sets errno if writing failed. */
bool export_cube(FILE *out, const struct export_input *input);

/* Writes a database for hpcviewer into an existing empty directory. Returns false and sets errno on failure. */
bool export_hpctoolkit(const char *directory, const struct export_input *input);

/* Writes profiles for TAU's pprof and ParaProf into an existing empty directory. Returns false and sets errno
 * on failure. */
bool export_tau(const char *directory, const struct export_input *input);

struct traced_process; /* see command/export/traced.h; the caller sets `rows` and `trace` */

/* Writes a Perfetto trace, which shows the states and stack samples of each thread, counters and phases over
 * time. Returns false and sets errno if writing failed. */
bool export_perfetto(FILE *out, const struct export_input *input);

/* Writes a processed profile for profiler.firefox.com. It contains samples, counters, and markers for phases
 * and idle times. */
void export_firefox(FILE *out, struct traced_process *processes, size_t count);

/* Returns whether export_value() returns ns for the metric, and not a count. */
static inline bool export_in_ns(const struct rows *rows, enum metric metric)
{
    return metric != METRIC_SAMPLES && !rows->events;
}

/* Rounds a value to an integer, and limits it to the range of int64_t. */
int64_t export_whole(double value);

/* Returns the value of a metric in ns, or as a number of events or samples. */
int64_t export_value(const struct rows *rows, const struct profile_sums *sums, enum metric metric);

/* Returns the sum of all negative exclusive values of a metric, in seconds (0 or less). Formats that consist
 * of stacks leave negative values out. */
double export_negative(const struct rows *rows, enum metric metric);

#endif
