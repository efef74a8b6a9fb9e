/* Profiles in the file formats of other tools. docs/options-and-files.md says how each format represents rows
 * and metrics.
 *
 * Every format has the tree's functions, constructs and pseudo rows. Statement rows become source lines in
 * pprof; the other formats leave them out, because a function's own cost already includes its statements.
 * Therefore, the sums over a format's entries equal the sums over the functions of profile.csv. */
#ifndef BLAME_COMMAND_EXPORT_EXPORT_H
#define BLAME_COMMAND_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "command/profile/profile.h"
#include "command/rows/metric.h"

struct export_input; /* command/export/formats.h */

/* Writes speedscope's file format 0.0.1, with one sampled profile for each metric. The viewer opens with
 * `metric`. If `alone` is set, `metric` is the only profile. */
void export_speedscope(FILE *out, const struct profile *profile, const struct rows *rows, enum metric metric,
                       bool alone);

/* Writes pprof's gzipped protobuf with all metrics. Readers show `metric` by default. Returns false, with
 * errno, if writing failed. */
bool export_pprof(FILE *out, const struct export_input *input);

/* Writes all metrics as JSON for Hatchet's GraphFrame.from_json. */
bool export_hatchet(FILE *out, const struct export_input *input);

/* Writes folded stacks, lines of the form "a;b;c value". A value is the row's own value, plus the values of
 * rows below it that the view leaves out. Its unit is whole microseconds (or samples, or events). Rows whose
 * value rounds to 0 are left out. */
void export_folded(FILE *out, const struct rows *rows, enum metric metric);

/* Writes a Cube 4 archive with values by location: effort and its parts, the other metrics, calls and exact
 * times of phases, and counters. Returns false, with errno, if writing failed. */
bool export_cube(FILE *out, const struct export_input *input);

/* Writes a database for hpcviewer into an existing empty directory. Returns false, with errno, on failure. */
bool export_hpctoolkit(const char *directory, const struct export_input *input);

/* Writes profiles for TAU's pprof and ParaProf into an existing empty directory. Returns false, with errno,
 * on failure. */
bool export_tau(const char *directory, const struct export_input *input);

struct traced_process; /* defined in command/export/traced.h; the caller sets `rows` and `trace` */

/* Writes a Perfetto trace: the threads' states, stack samples, counters and phases over time. Returns false,
 * with errno, if writing failed. */
bool export_perfetto(FILE *out, const struct export_input *input);

/* Writes a processed profile for profiler.firefox.com: samples, counters, and markers for phases and idle
 * time. */
void export_firefox(FILE *out, struct traced_process *processes, size_t count);

/* Returns whether the metric's whole values are nanoseconds; otherwise they are counts. */
static inline bool export_in_ns(const struct rows *rows, enum metric metric)
{
    return metric != METRIC_SAMPLES && !rows->events;
}

/* Returns the value rounded to a whole number, limited to the range of int64_t. */
int64_t export_whole(double value);

/* Returns the metric's value in whole nanoseconds, events or samples. */
int64_t export_value(const struct rows *rows, const struct profile_sums *sums, enum metric metric);

/* Returns the sum of all negative exclusive values, in seconds (0 or less). Stack formats leave these out,
 * because they have no negative values. */
double export_negative(const struct rows *rows, enum metric metric);

#endif
