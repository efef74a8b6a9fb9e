/* HPCToolkit's database, version 4.0 (doc/FORMATS.md of HPCToolkit). Declares what the writers of its files
 * share. */
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

/* A context: a function, a construct, a pseudo row or a source line. A line's parent is its function; its
 * children are the calls made on it. HPCToolkit calls the context's number ctxId. */
struct hpc_context {
    uint32_t parent, first, last, next; /* numbers of other contexts, 0: none; a parent's number is smaller */
    /* row number; ROW_NONE: a line, or a state that occurs only in traces */
    uint32_t row;
    uint32_t traced; /* 1 + index in trace_label; 0: not a state of a trace */
    int line;
    const char *file;
};

struct hpc_contexts {
    const struct rows *rows;
    struct hpc_context *context; /* starts with HPC_GLOBAL */
    size_t count, room;
    uint32_t *of_row;
    /* the measures that are not metrics; the first one has the number METRIC_COLUMNS */
    struct measures beside;
    char **name; /* names such as "lock wait (sec)", by number of the metric or measure */
    size_t metrics;
    /* number of value ids; each metric has two, one for inclusive values and then one for exclusive values */
    uint16_t values;
    /* labels of thread states, and of time without samples */
    const struct row_label *trace_label[PROFILE_TIME_STATES + 1];
    uint32_t trace_labels;
};

void hpc_contexts_make(struct hpc_contexts *contexts, const struct rows *rows);
void hpc_contexts_free(struct hpc_contexts *contexts);

/* A file being written, and the number of bytes written so far. */
struct hpc_file {
    FILE *stream;
    uint64_t at;
    int why; /* errno of the first failure; a stream only records that there was one */
};

struct hpc_section {
    uint64_t bytes, at;
};

bool hpc_open(struct hpc_file *file, const char *directory, const char *name, size_t sections);
void hpc_put(struct hpc_file *file, const void *data, size_t bytes);
/* Writes the footer, then the header at the start of the file, and closes the file. Returns false, with
 * errno, if any write failed. */
bool hpc_close(struct hpc_file *file, const char *format, const struct hpc_section *sections, size_t count,
               const char *footer);

/* Writes meta.db, and copies source files to src/. */
bool hpc_write_meta(const char *directory, const struct profile *profile, const struct hpc_contexts *contexts);

/* Writes trace.db, one thread at a time. */
struct hpc_trace {
    const char *directory;
    struct hpc_contexts *contexts;
    struct hpc_file file;  /* the stream is NULL before the first thread */
    struct pair_map known; /* context number, by (node, state) of a span and by (parent context, state) */
    struct hpc_trace_line *line;
    size_t count, room;
    uint64_t first_ns, last_ns;
};
/* Adds the trace of the profile with that number. Numbers must increase. The spans' nodes are the sum's;
 * their times are on the header's clock. */
bool hpc_put_trace(struct hpc_trace *trace, uint32_t profile, const struct profile_header *header,
                   const struct trace_lane *lane);
/* Finishes the file, if one was started, and frees everything. */
bool hpc_close_trace(struct hpc_trace *trace);

#endif
