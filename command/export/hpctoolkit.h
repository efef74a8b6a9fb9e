/* HPCToolkit's database, version 4.0, which doc/FORMATS.md of HPCToolkit describes. It has several files;
 * this header declares what their writers share. */
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

/* A context: a function, a construct, a pseudo row or a source line. A line is a child of its function, and
 * the functions called on the line are children of the line. HPCToolkit calls the number of a context ctxId. */
struct hpc_context {
    /* numbers of the parent, the first and last child, and the next sibling; 0: none. A parent has a smaller
     * number than its children */
    uint32_t parent, first, last, next;
    /* number of the row; ROW_NONE: a line, or a state that occurs only in traces */
    uint32_t row;
    uint32_t traced; /* 1 + an index in trace_label; 0: not a state that occurs only in traces */
    int line;
    const char *file;
};

struct hpc_contexts {
    const struct rows *rows;
    struct hpc_context *context; /* contexts by number; the first one is HPC_GLOBAL */
    size_t count, room;
    uint32_t *of_row;
    /* measures that are not metrics; they are numbered from METRIC_COLUMNS */
    struct measures beside;
    char **name; /* for each metric or measure, its name, such as "lock wait (sec)" */
    size_t metrics;
    /* number of value ids. Each metric has two of them: first that of its inclusive values, then that of its
     * exclusive values */
    uint16_t values;
    /* labels for the states of threads, and for time without samples */
    const struct row_label *trace_label[PROFILE_TIME_STATES + 1];
    uint32_t trace_labels;
};

void hpc_contexts_make(struct hpc_contexts *contexts, const struct rows *rows);
void hpc_contexts_free(struct hpc_contexts *contexts);

/* A file being written. `at` is the number of bytes written so far. */
struct hpc_file {
    FILE *stream;
    uint64_t at;
    int why; /* errno of the first failed write; the stream records only that a write failed */
};

struct hpc_section {
    uint64_t bytes, at;
};

bool hpc_open(struct hpc_file *file, const char *directory, const char *name, size_t sections);
void hpc_put(struct hpc_file *file, const void *data, size_t bytes);
/* Writes the footer, then the header at the start of the file, and closes the file. Returns false and sets
 * errno if any write failed. */
bool hpc_close(struct hpc_file *file, const char *format, const struct hpc_section *sections, size_t count,
               const char *footer);

/* Writes meta.db, and copies source files to src/. */
bool hpc_write_meta(const char *directory, const struct profile *profile, const struct hpc_contexts *contexts);

/* The state of writing trace.db, which gets one thread after the other. */
struct hpc_trace {
    const char *directory;
    struct hpc_contexts *contexts;
    struct hpc_file file; /* its stream is NULL until the first thread is written */
    /* for a node and state of a span, or a parent context and state, the number of the context */
    struct pair_map known;
    struct hpc_trace_line *line;
    size_t count, room;
    uint64_t first_ns, last_ns;
};
/* Adds the trace of a thread, whose values are in the profile with the number `profile`. Threads must be
 * added in order of these numbers. The spans refer to nodes of the sum, and their times are on the clock of
 * the header. */
bool hpc_put_trace(struct hpc_trace *trace, uint32_t profile, const struct profile_header *header,
                   const struct trace_lane *lane);
/* Completes the file if it was started, and frees `trace`. */
bool hpc_close_trace(struct hpc_trace *trace);

#endif
