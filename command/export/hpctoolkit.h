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

#define HPC_GLOBAL 0u /* number of the context that contains all others */
#define HPC_ENTRY  1u /* number of the context of the program's root */

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

static inline bool hpc_is_line(const struct hpc_context *context)
{
    return context->row == ROW_NONE && !context->traced;
}

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
/* Adds a context as the last child of its parent. Returns its number. */
uint32_t hpc_add_context(struct hpc_contexts *contexts, struct hpc_context context);
/* Writes into `to` the name under which hpcviewer shows a metric, such as "lock wait (sec)". Returns `to`. */
const char *hpc_metric_name(const struct rows *rows, enum metric metric, char *to, size_t bytes);

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
void hpc_align(struct hpc_file *file, size_t to); /* by up to 8 zeros */
/* Writes the footer, then the header at the start of the file, and closes the file. Returns false and sets
 * errno if any write failed. */
bool hpc_close(struct hpc_file *file, const char *format, const struct hpc_section *sections, size_t count,
               const char *footer);

/* Writes meta.db, and copies source files to src/. */
bool hpc_write_meta(const char *directory, const struct profile *profile, const struct hpc_contexts *contexts);

/* Writes metrics/default.yaml. */
bool hpc_write_metrics(const char *directory, const struct hpc_contexts *contexts);

#define HPC_INFOS_BYTES 16 /* the head of the tables of records in profile.db and cct.db */

/* A profile's record in profile.db, which FORMATS.md calls {PI}. It says where the profile's values and
 * contexts are stored. */
struct hpc_profile_info {
    uint64_t value_count, values;
    uint32_t context_count, none;
    uint64_t contexts;
    uint64_t id_tuple;
    uint32_t flags, behind;
};

struct hpc_profiles {
    struct hpc_profile_info *info; /* one record for each profile; profile 0 is the sum of all */
    size_t count;
};

struct hpc_value { /* a value in profile.db */
    uint16_t metric;
    double value;
} __attribute__((packed));

struct hpc_values_of { /* index of a context's first value in profile.db */
    uint32_t context;
    uint64_t first;
} __attribute__((packed));

/* Writes profile.db. Profile 0 is the sum, and each location has a profile of its own. */
bool hpc_write_profiles(const char *directory, struct locations *locations, const struct hpc_contexts *contexts,
                        struct hpc_profiles *profiles);
/* Writes cct.db, which has the values of profile.db sorted by context. The sum is left out. */
bool hpc_write_cct(const char *directory, const struct hpc_contexts *contexts, const struct hpc_profiles *profiles);

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
/* Writes trace.db, which shows what each thread did over time, for the processes that have a trace. Adds the
 * contexts that occur only in traces, so it must run before the other files are written. */
bool hpc_write_trace(const char *directory, struct locations *locations, struct hpc_contexts *contexts);

#endif
