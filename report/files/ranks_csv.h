#ifndef BLAME_REPORT_FILES_RANKS_CSV_H
#define BLAME_REPORT_FILES_RANKS_CSV_H

#include <stdio.h>

#include "report/profile/profile.h"

/* ranks.csv: a row for each process of the job, also of those whose figures are missing; what is not known is empty. */
void write_ranks_csv(FILE *out, const struct profile *profile);

#endif
