/* spread.csv of a job. */
#ifndef BLAME_REPORT_FILES_SPREAD_CSV_H
#define BLAME_REPORT_FILES_SPREAD_CSV_H

#include <stdio.h>

#include "report/rows/row.h"

/* A line for each time of each row that has one and can be compared between ranks; id: the row's in profile.csv. */
void write_spread_csv(FILE *out, const struct profile *profile, const struct rows *rows);

#endif
