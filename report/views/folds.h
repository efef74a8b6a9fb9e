/* A folded phase as text. */
#ifndef BLAME_REPORT_VIEWS_FOLDS_H
#define BLAME_REPORT_VIEWS_FOLDS_H

#include "report/tables/folds.h"
#include "report/views/style.h"

/* States, and what runs and what others wait for, along one instance on average; `depth` levels of calls, without those that do all of their caller's. */
void view_text_folds(FILE *out, const struct profile *profile, const struct fold_table *table, uint32_t depth, const struct view_style *style);

#endif
