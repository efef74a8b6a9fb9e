/* The timeline as CSV: the contract with scripts. */
#ifndef BLAME_REPORT_FILES_TIMELINE_CSV_H
#define BLAME_REPORT_FILES_TIMELINE_CSV_H

#include <stdio.h>

#include "report/rows/row.h"
#include "report/tables/culprits.h"

/* A line for each bin of a thread in which something was sampled; `thread` is empty where a line is of a whole rank, or of several ranks. */
void write_timeline_csv(FILE *out, const struct profile *profile);
/* A line for each bin and row with blame in it; `id` is the row's in profile.csv. */
void write_culprits_csv(FILE *out, const struct profile *profile, const struct rows *rows, const struct culprits *culprits);

#endif
