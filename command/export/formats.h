/* The table of all formats of `blame export`. docs/architecture.md describes how to add a format. */
#ifndef BLAME_COMMAND_EXPORT_FORMATS_H
#define BLAME_COMMAND_EXPORT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/export/locations.h"
#include "command/export/traced.h"
#include "command/profile/profile.h"
#include "command/rows/metric.h"

/* The data from which a format is made. */
enum export_from {
    EXPORT_FROM_ROWS,
    EXPORT_FROM_LOCATIONS, /* rows, and the values of each thread or rank */
    EXPORT_FROM_TRACES,
    EXPORT_FROM_LOG,  /* the samples of a trace, one by one (command/cli/stacks_file.h) */
    EXPORT_FROM_RUNS, /* any number of profiles (command/cli/export.c) */
};

/* The options that a format accepts. */
#define EXPORT_TAKES_METRIC 1u /* --metric with any metric except blame */
#define EXPORT_TAKES_BLAME  2u /* --metric blame, which is the sum of several metrics */
#define EXPORT_TAKES_CLOCK  8u
#define EXPORT_TAKES_RUNS   16u /* several profiles, and the options --common and --sums */

/* The metrics that the output contains. */
enum export_metrics {
    EXPORT_ALL_METRICS,
    EXPORT_PARTS, /* the metrics listed in metric_parts[] */
    EXPORT_ONE_METRIC,
    EXPORT_ONE_SHOWN,  /* all metrics; the viewer shows `metric` by default */
    EXPORT_ONE_OR_ALL, /* all metrics, or only one if the user asked for one */
};

struct export_input {
    /* profile and its rows from rows_build(), for EXPORT_FROM_ROWS and EXPORT_FROM_LOCATIONS */
    const struct profile *profile;
    const struct rows *rows;
    struct locations *locations;      /* locations, whose values have not been read yet */
    struct traced_process *processes; /* processes with `rows` and `trace` set, for EXPORT_FROM_TRACES */
    size_t process_count;
    enum metric metric; /* metric that the user asked for, or else the default */
    bool alone;         /* whether the user asked for a metric */
};

struct export_format {
    const char *name, *about;
    uint8_t from;    /* enum export_from */
    uint8_t metrics; /* enum export_metrics */
    uint8_t takes;   /* EXPORT_TAKES_... */
    bool binary;     /* whether the output is unsuitable for a terminal */
    bool positive;   /* whether the format can store only values of 0 or more */
    /* Exactly one of these two functions is set. write_directory is given an existing empty directory. Both
     * return false and set errno if writing failed. */
    bool (*write)(FILE *out, const struct export_input *input);
    bool (*write_directory)(const char *directory, const struct export_input *input);
};

extern const struct export_format export_formats[];
extern const size_t export_format_count;

#endif
