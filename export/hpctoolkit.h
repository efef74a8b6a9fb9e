/* HPCToolkit's database, version 4.0 (its doc/FORMATS.md): what the files of one have in common. */
#ifndef BLAME_EXPORT_HPCTOOLKIT_H
#define BLAME_EXPORT_HPCTOOLKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/profile/profile.h"
#include "report/rows/metric.h"
#include "report/rows/row.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they are in memory");

#define HPC_GLOBAL 0u /* the context above all others */
#define HPC_ENTRY  1u /* the program's root */

/* Each metric has two ids: its inclusive values' and, behind it, its exclusive ones'. */
#define HPC_VALUES (2u * METRIC_COLUMNS)

/* A function, construct or row in angle brackets; or a source line of its parent, with its own cost and the calls made there. Numbers: ctxId. */
struct hpc_context {
    uint32_t parent, first, last, next; /* 0: none; the parent's number is the smaller one */
    uint32_t row;                       /* ROW_NONE: a line */
    int line;
    const char *file;
};

struct hpc_contexts {
    const struct rows *rows;
    struct hpc_context *context; /* from HPC_GLOBAL on */
    size_t count, room;
    uint32_t *of_row;
};

void hpc_contexts_make(struct hpc_contexts *contexts, const struct rows *rows);
void hpc_contexts_free(struct hpc_contexts *contexts);

static inline bool hpc_is_line(const struct hpc_context *context)
{
    return context->row == ROW_NONE;
}

/* A file of the database while it is written, and how long it is. */
struct hpc_file {
    FILE *stream;
    uint64_t at;
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
bool hpc_write_metrics(const char *directory, const struct rows *rows);
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

/* profile.db: the sum, and a profile for each thread, or where that is not known one for all. *lost: samples that no thread has. */
bool hpc_write_profiles(const char *directory, const struct profile *profile, const struct hpc_contexts *contexts, struct hpc_profiles *profiles,
                        uint64_t *lost);
/* cct.db: what profile.db has of threads, by context. */
bool hpc_write_cct(const char *directory, const struct hpc_contexts *contexts, const struct hpc_profiles *profiles);

#endif
