/* The table of formats of `blame export`, one row for each format. docs/architecture.md says how to add one. */
#ifndef BLAME_COMMAND_EXPORT_FORMATS_H
#define BLAME_COMMAND_EXPORT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/export/locations.h"
#include "command/export/traced.h"
#include "command/profile/profile.h"
#include "command/rows/metric.h"

/* The kind of data that a format is made from. */
enum export_from {
    EXPORT_FROM_ROWS,
    EXPORT_FROM_LOCATIONS, /* rows, and the values of each thread or rank */
    EXPORT_FROM_TRACES,
    EXPORT_FROM_LOG,  /* single samples of a trace: command/cli/stacks_file.h */
    EXPORT_FROM_RUNS, /* any number of profiles: command/cli/export.c */
};

/* Options that the format accepts. */
#define EXPORT_TAKES_METRIC 1u /* --metric, but not `--metric blame` */
#define EXPORT_TAKES_BLAME  2u /* --metric blame, the sum of several metrics */
#define EXPORT_TAKES_CLOCK  8u
#define EXPORT_TAKES_RUNS   16u /* several profiles, --common and --sums */

/* The metrics that the format's output contains. */
enum export_metrics {
    EXPORT_ALL_METRICS,
    EXPORT_PARTS, /* the metrics in metric_parts[] */
    EXPORT_ONE_METRIC,
    EXPORT_ONE_SHOWN,  /* all; the viewer shows one of them by default */
    EXPORT_ONE_OR_ALL, /* all, or only one if the user asked for it */
};

struct export_input {
    /* set for EXPORT_FROM_ROWS and EXPORT_FROM_LOCATIONS; `rows` were made by rows_build() */
    const struct profile *profile;
    const struct rows *rows;
    struct locations *locations;      /* the locations' values have not been read yet */
    struct traced_process *processes; /* for EXPORT_FROM_TRACES, with `rows` and `trace` set */
    size_t process_count;
    enum metric metric; /* the metric that the user asked for, or the default one */
    bool alone;         /* whether the user asked for `metric` */
};

struct export_format {
    const char *name, *about;
    uint8_t from;    /* enum export_from */
    uint8_t metrics; /* enum export_metrics */
    uint8_t takes;   /* EXPORT_TAKES_... */
    bool binary;     /* whether the output is unsuitable for a terminal */
    bool positive;   /* whether the format has no negative values */
    /* Exactly one of the two functions is set. write_directory gets an existing empty directory. Both return
     * false, with errno, if writing failed. */
    bool (*write)(FILE *out, const struct export_input *input);
    bool (*write_directory)(const char *directory, const struct export_input *input);
};

extern const struct export_format export_formats[];
extern const size_t export_format_count;

#endif
