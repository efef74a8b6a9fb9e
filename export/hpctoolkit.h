/* HPCToolkit's database, version 4.0 (its doc/FORMATS.md): what the files of one have in common. */
#ifndef BLAME_EXPORT_HPCTOOLKIT_H
#define BLAME_EXPORT_HPCTOOLKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "export/locations.h"
#include "export/measures.h"
#include "report/profile/pair_map.h"
#include "report/profile/profile.h"
#include "report/profile/trace.h"
#include "report/rows/metric.h"
#include "report/rows/row.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they are in memory");

#define HPC_GLOBAL 0u /* the context above all others */
#define HPC_ENTRY  1u /* the program's root */

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
    uint16_t values;        /* each metric has two ids: its inclusive values' and, behind it, its exclusive ones' */
    const struct row_label *trace_label[PROFILE_TIME_STATES + 1]; /* states, and what is not known */
    uint32_t trace_labels;
};

void hpc_contexts_make(struct hpc_contexts *contexts, const struct rows *rows);
void hpc_contexts_free(struct hpc_contexts *contexts);
/* Below a parent that is there. */
uint32_t hpc_add_context(struct hpc_contexts *contexts, struct hpc_context context);

static inline bool hpc_is_line(const struct hpc_context *context)
{
    return context->row == ROW_NONE && !context->traced;
}

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
void hpc_align(struct hpc_file *file, size_t to);
/* Footer, then the header in front of all. false: errno says why. */
bool hpc_close(struct hpc_file *file, const char *format, const struct hpc_section *sections, size_t count, const char *footer);

/* What the name of a metric's values is: "lock wait (sec)"; into a buffer. */
const char *hpc_metric_name(const struct rows *rows, enum metric metric, char *to, size_t bytes);

/* meta.db, and the source files that are found below src/. */
bool hpc_write_meta(const char *directory, const struct profile *profile, const struct hpc_contexts *contexts);
/* metrics/default.yaml */
bool hpc_write_metrics(const char *directory, const struct hpc_contexts *contexts);
/* Copies to src/ what can be read there; the path in the database, malloc'ed, NULL: it was not copied. */
char *hpc_copy_source(const char *directory, const char *path, bool for_others);

/* Where the values of a profile are in profile.db; HPC_PROFILE_INFO_BYTES of it are written. */
struct hpc_profile_info {
    uint64_t value_count, values;
    uint32_t context_count, none;
    uint64_t contexts;
    uint64_t id_tuple;
    uint32_t flags, behind;
};

struct hpc_profiles {
    struct hpc_profile_info *info; /* 0: the sum of all */
    size_t count;
};

struct hpc_value { /* in profile.db */
    uint16_t metric;
    double value;
} __attribute__((packed));

struct hpc_values_of { /* of a context in profile.db */
    uint32_t context;
    uint64_t first;
} __attribute__((packed));

/* profile.db: the sum, and a profile for each location. */
bool hpc_write_profiles(const char *directory, struct locations *locations, const struct hpc_contexts *contexts, struct hpc_profiles *profiles);
/* cct.db: what profile.db has of locations, by context. */
bool hpc_write_cct(const char *directory, const struct hpc_contexts *contexts, const struct hpc_profiles *profiles);

/* trace.db: which context each location that is a thread was in over time, of processes that have a trace. Adds the contexts that only traces have, so all
 * other files are written after it. */
bool hpc_write_trace(const char *directory, struct locations *locations, struct hpc_contexts *contexts);

/* The same, line by line. */
struct hpc_trace {
    const char *directory;
    struct hpc_contexts *contexts;
    struct hpc_file file; /* its stream is NULL before the first line */
    struct pair_map known; /* contexts, by the sum's node and by parent */
    struct hpc_trace_line *line;
    size_t count, room;
    uint64_t first_ns, last_ns;
};
/* Of a profile with that number, each behind those with smaller ones; the spans' nodes are the sum's, their clock the header's. */
bool hpc_put_trace(struct hpc_trace *trace, uint32_t profile, const struct profile_header *header, const struct trace_lane *lane);
/* Ends the file, if there is any, and frees all. */
bool hpc_close_trace(struct hpc_trace *trace);

#endif
