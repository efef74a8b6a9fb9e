/* The CSV files: the contract with scripts. RFC 4180, so lines end in CR LF. */
#ifndef BLAME_COMMAND_FILES_CSV_H
#define BLAME_COMMAND_FILES_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/findings/findings.h"
#include "command/profile/profile.h"
#include "command/rows/row.h"
#include "command/tables/culprits.h"
#include "command/tables/locks.h"
#include "command/tables/phases.h"
#include "command/tables/waits.h"

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

/* ranks.csv: a row for each process of the job, also of those whose figures are missing; what is not known is empty. */
void write_ranks_csv(FILE *out, const struct profile *profile);

/* A line for each time of each row that has one and can be compared between ranks; id: the row's in profile.csv. */
void write_spread_csv(FILE *out, const struct profile *profile, const struct rows *rows);

/* A line for each call, each rank and each context that is charged; id: the row's in profile.csv. */
void write_balance_csv(FILE *out, const struct profile *profile, const struct rows *rows);

/* A line for each bin of a thread in which something was sampled; `thread` is empty where a line is of a whole rank, or of several ranks. */
void write_timeline_csv(FILE *out, const struct profile *profile);
/* A line for each bin and row with blame in it; `id` is the row's in profile.csv. */
void write_culprits_csv(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct culprits *culprits);

#endif
