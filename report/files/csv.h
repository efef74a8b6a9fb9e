/* profile.csv, threads.csv, locks.csv and waits.csv: the contract with scripts. RFC 4180, so lines end in CR
 * LF. */
#ifndef BLAME_REPORT_FILES_CSV_H
#define BLAME_REPORT_FILES_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "report/findings/findings.h"
#include "report/tables/locks.h"
#include "report/tables/phases.h"
#include "report/tables/waits.h"

/* Errors are left in the stream (ferror). errors: with those of sampling behind the other columns. */
void write_profile_csv(FILE *out, const struct rows *rows, bool errors);
/* In another order of threads, which keep their numbers; NULL: by their start. */
void write_threads_csv(FILE *out, const struct profile *profile, const size_t *order);
void write_locks_csv(FILE *out, const struct lock_table *table);
/* A line for each pair; context is the row's id in profile.csv. */
void write_waits_csv(FILE *out, const struct rows *rows, const struct wait_table *table);
/* phases.csv. */
void write_phases_csv(FILE *out, const struct rows *rows, const struct phase_table *table);
/* A line for each finding of at least the share; `context` is the row's id in profile.csv. */
void write_findings_csv(FILE *out, const struct findings *findings, double least);

#endif
