/* The formats of `blame export`, a row each: all that the command knows of one. docs/architecture.md says how to add one. */
#ifndef BLAME_COMMAND_EXPORT_FORMATS_H
#define BLAME_COMMAND_EXPORT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/export/locations.h"
#include "command/export/traced.h"
#include "command/profile/profile.h"
#include "command/rows/metric.h"

/* What a format is written from. */
enum export_from {
    EXPORT_FROM_ROWS,
    EXPORT_FROM_LOCATIONS, /* rows, and who has what */
    EXPORT_FROM_TRACES,
    EXPORT_FROM_LOG,  /* a trace's samples, one by one: command/cli/stacks_file.h */
    EXPORT_FROM_RUNS, /* any number of profiles: command/cli/export.c */
};

/* Options that it takes. */
#define EXPORT_TAKES_METRIC 1u /* --metric, but for */
#define EXPORT_TAKES_BLAME  2u /* --metric blame, which is a sum of others */
#define EXPORT_TAKES_CLOCK  8u
#define EXPORT_TAKES_RUNS   16u /* several profiles, and --common and --sums */

/* Which metrics are in it. */
enum export_metrics {
    EXPORT_ALL_METRICS,
    EXPORT_PARTS, /* metric_parts[] */
    EXPORT_ONE_METRIC,
    EXPORT_ONE_SHOWN,  /* all, and one of them is shown unasked */
    EXPORT_ONE_OR_ALL, /* all, unless one is asked for */
};

struct export_input {
    const struct profile *profile; /* from rows on; rows are as rows_build() made them */
    const struct rows *rows;
    struct locations *locations;      /* none has been read */
    struct traced_process *processes; /* of traces: rows and traces are set */
    size_t process_count;
    enum metric metric; /* that is asked for, or shown unasked */
    bool alone;         /* it was asked for */
};

struct export_format {
    const char *name, *about;
    uint8_t from;    /* enum export_from */
    uint8_t metrics; /* enum export_metrics */
    uint8_t takes;   /* EXPORT_TAKES_... */
    bool binary;     /* not for terminals */
    bool positive;   /* it cannot have values below nothing */
    /* One of the two. False: the stream is in error, or a file of the directory cannot be written, and errno says why. The directory is there, and empty. */
    bool (*write)(FILE *out, const struct export_input *input);
    bool (*write_directory)(const char *directory, const struct export_input *input);
};

extern const struct export_format export_formats[];
extern const size_t export_format_count;

#endif
