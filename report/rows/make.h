/* For makers of rows and of views: rows, their memory, their sums, their order. */
#ifndef BLAME_REPORT_ROWS_MAKE_H
#define BLAME_REPORT_ROWS_MAKE_H

#include "report/rows/metric.h"

/* Appends a row without metrics below `parent` (which must be there already, ROW_NONE for
 * the root) and returns its index, ROW_NONE without memory. Not in preorder until rows_order(). */
uint32_t rows_append(struct rows *rows, uint32_t parent, enum row_kind kind);

extern const struct row_label row_no_label;     /* empty strings */
extern const struct profile_metric row_no_sums; /* zero */

/* Zeroed memory that lives as long as the rows; NULL: none. */
void *rows_alloc(struct rows *rows, size_t bytes);

/* Add to a row's sums; *metric may be borrowed and must outlive the rows unchanged. false: no memory. */
bool rows_add_inclusive(struct rows *rows, struct row *row, const struct profile_metric *sums);
bool rows_add_exclusive(struct rows *rows, struct row *row, const struct profile_metric *sums);
/* From the exclusive sums of nodes: inclusive ones, and functions with their statements'. false: no memory. */
bool rows_sum(struct rows *rows);
/* Gives rows what they have besides: by node_row, before rows_order(). false: no memory. */
bool rows_add_extras(struct rows *rows, const struct profile *profile);

bool sums_are_zero(const struct profile_metric *sums);

/* Reorders siblings: highest `metric` first, ties by kind and name.  false: no memory. */
bool rows_order(struct rows *rows, enum metric metric, bool by_exclusive);

#endif
