/* For makers of rows and of views: rows, their memory, their sums, their order. */
#ifndef BLAME_COMMAND_ROWS_MAKE_H
#define BLAME_COMMAND_ROWS_MAKE_H

#include "command/profile/index_map.h"
#include "command/profile/profile.h"
#include "command/rows/metric.h"

/* Rows without any row, of a program like that of others. */
struct rows *rows_like(const struct rows *rows);

/* Appends a row without metrics below `parent` (which must be there already, ROW_NONE for
 * the root) and returns its index. Not in preorder until rows_order(). */
uint32_t rows_append(struct rows *rows, uint32_t parent, enum row_kind kind);

/* The row below a parent, made without a label if need be. line: of statements their own, which their label must have
 * before the next call; of others where they are called. */
uint32_t rows_find_child(struct rows *rows, struct index_map *children, uint32_t parent, enum row_kind kind,
                         uint32_t function, int line);

extern const struct row_label row_no_label;   /* empty strings */
extern const struct profile_sums row_no_sums; /* zero */

/* Zeroed memory that lives as long as the rows. */
void *rows_alloc(struct rows *rows, size_t bytes);

/* Add to a row's sums; *metric may be borrowed and must outlive the rows unchanged. */
void rows_add_inclusive(struct rows *rows, struct row *row, const struct profile_sums *sums);
void rows_add_exclusive(struct rows *rows, struct row *row, const struct profile_sums *sums);
/* Adds to what was counted at a row's samples; NULL: nothing. */
void rows_add_counters(struct rows *rows, struct row *row, const struct profile_counters *inclusive,
                       const struct profile_counters *exclusive);
/* From the exclusive sums of nodes: inclusive ones, and functions with their statements'. */
void rows_sum(struct rows *rows);
/* Gives rows what they have besides: by node_row, before rows_order(). */
void rows_add_extras(struct rows *rows, const struct profile *profile);

bool sums_are_zero(const struct profile_sums *sums);

/* Reorders siblings: highest `metric` first, ties by kind and name. */
void rows_order(struct rows *rows, enum metric metric, bool by_exclusive);

#endif
