/* balance.csv of a job. */
#ifndef BLAME_REPORT_FILES_BALANCE_CSV_H
#define BLAME_REPORT_FILES_BALANCE_CSV_H

#include <stdio.h>

#include "report/rows/row.h"

/* A line for each call, each rank and each context that is charged; id: the row's in profile.csv. */
void write_balance_csv(FILE *out, const struct profile *profile, const struct rows *rows);

#endif
