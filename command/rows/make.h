/* What the makers of rows and views need: rows, their memory, their sums, their order. */
#ifndef BLAME_COMMAND_ROWS_MAKE_H
#define BLAME_COMMAND_ROWS_MAKE_H

#include "command/profile/index_map.h"
#include "command/profile/profile.h"
#include "command/rows/metric.h"

/* Returns empty rows for the same program as other rows. */
struct rows *rows_like(const struct rows *rows);

/* Appends a row without metrics below `parent` (which must be there already, ROW_NONE for
 * the root) and returns its index. Not in preorder until rows_order(). */
uint32_t rows_append(struct rows *rows, uint32_t parent, enum row_kind kind);

/* Returns the row below a parent. Makes it, without a label, if it is missing. line: for statements their own
 * line, which their label must have before the next call; for other rows the line of the call. */
uint32_t rows_find_child(struct rows *rows, struct index_map *children, uint32_t parent, enum row_kind kind,
                         uint32_t function, int line);

extern const struct row_label row_no_label;   /* empty strings */
extern const struct profile_sums row_no_sums; /* zero */

/* Returns zeroed memory that lives as long as the rows. */
void *rows_alloc(struct rows *rows, size_t bytes);

/* Add to a row's sums. *sums may be borrowed: it must outlive the rows unchanged. */
void rows_add_inclusive(struct rows *rows, struct row *row, const struct profile_sums *sums);
void rows_add_exclusive(struct rows *rows, struct row *row, const struct profile_sums *sums);
/* Adds to the counters of a row's samples; NULL adds nothing. */
void rows_add_counters(struct rows *rows, struct row *row, const struct profile_counters *inclusive,
                       const struct profile_counters *exclusive);
/* Makes inclusive sums of the nodes' exclusive sums, and adds statements' sums to their functions. */
void rows_sum(struct rows *rows);
/* Adds exact times and counters to the rows. Uses node_row, so it must come before rows_order(). */
void rows_add_extras(struct rows *rows, const struct profile *profile);

bool sums_are_zero(const struct profile_sums *sums);

/* Sorts siblings: highest `metric` first, ties by kind and name. */
void rows_order(struct rows *rows, enum metric metric, bool by_exclusive);

#endif
