#ifndef BLAME_REPORT_FILES_FOLDS_CSV_H
#define BLAME_REPORT_FILES_FOLDS_CSV_H

#include <stdio.h>

#include "report/tables/folds.h"

/* A line for each bin and function with something in it: thread seconds of all instances. id counts rows of the fold, 0 is the phase itself. */
void write_folds_csv(FILE *out, const struct fold_table *table);

#endif
