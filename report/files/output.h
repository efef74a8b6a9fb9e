/* What the tool leaves behind when a program ends: the files of the profile directory and the summary. */
#ifndef BLAME_REPORT_FILES_OUTPUT_H
#define BLAME_REPORT_FILES_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "cct/profile_read.h"
#include "report/tables/locks.h"
#include "report/rows/rows.h"
#include "report/symbols/symbols.h"
#include "report/tables/waits.h"

/* What both need, made once. Members are NULL where there was no memory. */
struct report_tables {
    struct rows *rows;
    struct lock_table *locks;
    struct wait_table *waits;
};

struct report_tables report_tables_make(const struct profile *profile, struct symbols *symbols); /* [init] */
void report_tables_free(struct report_tables *tables);                                           /* [init] */

/* Writes profile.csv, threads.csv, locks.csv, waits.csv, run.json and, of a program with phases, phases.csv into
 * dir. Each appears whole or not at all:
 * all are written under other names first, then renamed. Returns 0, or -1 with one line in error[] and nothing
 * left behind. [init] */
int report_write_files(const struct profile *profile, const struct report_tables *tables, const char *dir,
                       char *error, size_t error_bytes);

/* The summary at the program's end: what was lost by whom, in some twenty lines. dir: as the user would type
 * it. [init] */
void report_print_summary(FILE *out, const struct profile *profile, const struct report_tables *tables,
                          const char *dir);

#endif
