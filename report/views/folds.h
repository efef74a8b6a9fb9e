/* A folded phase as text. */
#ifndef BLAME_REPORT_VIEWS_FOLDS_H
#define BLAME_REPORT_VIEWS_FOLDS_H

#include "report/tables/folds.h"
#include "report/views/style.h"

/* States, and the functions with most time and most blame, along one instance on average. */
void view_text_folds(FILE *out, const struct profile *profile, const struct fold_table *table, const struct view_style *style);

#endif
