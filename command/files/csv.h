/* The CSV files that scripts read. Lines end in CR LF, as RFC 4180 demands. */
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
#include "command/tables/wakes.h"

/* Writes profile.csv. errors: whether to write columns for sampling errors. A write error stays in the stream
 * (ferror). */
void write_profile_csv(FILE *out, const struct rows *rows, bool errors);
/* Writes threads.csv. order: indices of the threads in the order in which to write them; NULL: by start. The
 * numbers of the threads do not change. */
void write_threads_csv(FILE *out, const struct profile *profile, const size_t *order);
void write_locks_csv(FILE *out, const struct lock_table *table);
/* Writes waits.csv, with one line for each pair. `context` is the id of a row in profile.csv. */
void write_waits_csv(FILE *out, const struct rows *rows, const struct wait_table *table);
/* Writes wakes.csv, with one line for each pair of lines. `waiter` and `waker` are ids of rows in profile.csv. */
void write_wakes_csv(FILE *out, const struct wake_table *table);
void write_phases_csv(FILE *out, const struct rows *rows, const struct phase_table *table);
/* Writes findings.csv, with one line for each finding that is at least the fraction `least` of the whole.
 * `context` is the id of a row in profile.csv. */
void write_findings_csv(FILE *out, const struct findings *findings, double least);

/* Writes ranks.csv, with one line for each process of the job, even for one without measurements. Unknown
 * fields are empty. */
void write_ranks_csv(FILE *out, const struct profile *profile);

/* Writes spread.csv, with one line for each time of a row that can be compared between ranks. `id` is the
 * row's id in profile.csv. */
void write_spread_csv(FILE *out, const struct profile *profile, const struct rows *rows);

/* Writes balance.csv, with one line for each call, context and rank that is charged. `id` is the row's id in
 * profile.csv. */
void write_balance_csv(FILE *out, const struct profile *profile, const struct rows *rows);

/* Writes timeline.csv, with one line for each bin of a thread that has samples. `thread` is empty if a line
 * is for one or more whole ranks. */
void write_timeline_csv(FILE *out, const struct profile *profile);
/* Writes culprits.csv, with one line for each bin and row that has blame. `id` is the row's id in
 * profile.csv. */
void write_culprits_csv(FILE *out, const struct profile *profile, const struct rows *rows,
                        const struct culprits *culprits);

#endif
