/* HPCToolkit's database, version 4.0 (its doc/FORMATS.md): what the files of one have in common. */
#ifndef BLAME_COMMAND_EXPORT_HPCTOOLKIT_H
#define BLAME_COMMAND_EXPORT_HPCTOOLKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cct/profile_time.h"
#include "command/export/locations.h"
#include "command/export/measures.h"
#include "command/profile/pair_map.h"
#include "command/profile/profile.h"
#include "command/profile/trace.h"
#include "command/rows/metric.h"
#include "command/rows/row.h"

/* A function, construct or row in angle brackets; or a source line of its parent, with its own cost and the calls made there. Numbers: ctxId. */
struct hpc_context {
    uint32_t parent, first, last, next; /* 0: none; the parent's number is the smaller one */
    uint32_t row;                       /* ROW_NONE: a line, or what only traces have */
    uint32_t traced;                    /* 1 + index in trace_label; 0: rows have it */
    int line;
    const char *file;
};

struct hpc_contexts {
    const struct rows *rows;
    struct hpc_context *context; /* from HPC_GLOBAL on */
    size_t count, room;
    uint32_t *of_row;
    struct measures beside; /* metrics: their numbers are METRIC_COLUMNS and those behind */
    char **name;            /* by number: "lock wait (sec)" */
    size_t metrics;
    uint16_t values; /* each metric has two ids: its inclusive values' and, behind it, its exclusive ones' */
    const struct row_label *trace_label[PROFILE_TIME_STATES + 1]; /* states, and what is not known */
    uint32_t trace_labels;
};

void hpc_contexts_make(struct hpc_contexts *contexts, const struct rows *rows);
void hpc_contexts_free(struct hpc_contexts *contexts);

/* A file of the database while it is written, and how long it is. */
struct hpc_file {
    FILE *stream;
    uint64_t at;
    int why; /* the first thing that went wrong, errno; a stream knows only that something did */
};

struct hpc_section {
    uint64_t bytes, at;
};

bool hpc_open(struct hpc_file *file, const char *directory, const char *name, size_t sections);
void hpc_put(struct hpc_file *file, const void *data, size_t bytes);
/* Footer, then the header in front of all. false: errno says why. */
bool hpc_close(struct hpc_file *file, const char *format, const struct hpc_section *sections, size_t count,
               const char *footer);

/* meta.db, and the source files that are found below src/. */
bool hpc_write_meta(const char *directory, const struct profile *profile, const struct hpc_contexts *contexts);

/* The same, line by line. */
struct hpc_trace {
    const char *directory;
    struct hpc_contexts *contexts;
    struct hpc_file file;  /* its stream is NULL before the first line */
    struct pair_map known; /* contexts, by the sum's node and by parent */
    struct hpc_trace_line *line;
    size_t count, room;
    uint64_t first_ns, last_ns;
};
/* Of a profile with that number, each behind those with smaller ones; the spans' nodes are the sum's, their clock the header's. */
bool hpc_put_trace(struct hpc_trace *trace, uint32_t profile, const struct profile_header *header,
                   const struct trace_lane *lane);
/* Ends the file, if there is any, and frees all. */
bool hpc_close_trace(struct hpc_trace *trace);

#endif
