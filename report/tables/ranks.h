/* Which rank of a job a process was, and where it might run. */
#ifndef BLAME_REPORT_TABLES_RANKS_H
#define BLAME_REPORT_TABLES_RANKS_H

#include <stddef.h>

#include "report/profile/profile.h"

/* ", rank 1 of 2, bound to core 3", to be put behind the number of cores; "" of a program that is no rank. */
void rank_note(const struct profile *profile, char *text, size_t bytes);

#endif
