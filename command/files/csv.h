/* The CSV files that scripts read. Lines end in CR LF, as in RFC 4180. */
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

/* Writes profile.csv. errors: adds columns with sampling errors. Write errors stay in the stream (ferror). */
void write_profile_csv(FILE *out, const struct rows *rows, bool errors);
/* Writes threads.csv. order: the order of the threads, which keep their numbers; NULL: by start. */
void write_threads_csv(FILE *out, const struct profile *profile, const size_t *order);
void write_locks_csv(FILE *out, const struct lock_table *table);
/* Writes a line for each pair; `context` is the row's id in profile.csv. */
void write_waits_csv(FILE *out, const struct rows *rows, const struct wait_table *table);
/* phases.csv. */
void write_phases_csv(FILE *out, const struct rows *rows, const struct phase_table *table);
/* Writes a line for each finding with at least the share `least`; `context` is the row's id in profile.csv. */
void write_findings_csv(FILE *out, const struct findings *findings, double least);

/* Writes a line for each process of the job, even if its figures are missing; unknown fields are empty. */
void write_ranks_csv(FILE *out, const struct profile *profile);

/* Writes a line for each time of a row that can be compared between ranks; `id` is the row's in profile.csv. */
void write_spread_csv(FILE *out, const struct profile *profile, const struct rows *rows);

/* Writes a line for each charged call, context and rank; `id` is the row's in profile.csv. */
void write_balance_csv(FILE *out, const struct profile *profile, const struct rows *rows);

/* Writes a line for each bin of a thread that has samples. `thread` is empty if the line covers a whole rank
 * or several. */
void write_timeline_csv(FILE *out, const struct profile *profile);
/* Writes a line for each bin and row with blame; `id` is the row's in profile.csv. */
void write_culprits_csv(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct culprits *culprits);

#endif
