/* Functions for units that make rows and views: creation, memory, sums and order of rows. */
#ifndef BLAME_COMMAND_ROWS_MAKE_H
#define BLAME_COMMAND_ROWS_MAKE_H

#include "command/profile/index_map.h"
#include "command/profile/profile.h"
#include "command/rows/metric.h"

/* Returns an empty view of the same program as `rows`. */
struct rows *rows_like(const struct rows *rows);

/* Returns the name of an enum profile_pseudo in this program; it depends on whether there was OpenMP. */
const char *rows_pseudo_name(const struct rows *rows, uint64_t code);

/* Appends a row without metrics and returns its index. parent: index of an existing row; ROW_NONE for the
 * root. Rows are not in preorder until rows_order() is called. */
uint32_t rows_append(struct rows *rows, uint32_t parent, enum row_kind kind);

/* Returns a child of a row. Creates the child, without a label, if there is none. line: for a statement, its
 * own line, which its label must have before the next call; for other rows, the line of the call. */
uint32_t rows_find_child(struct rows *rows, struct index_map *children, uint32_t parent, enum row_kind kind,
                         uint32_t function, int line);

extern const struct row_label row_no_label;   /* empty strings */
extern const struct profile_sums row_no_sums; /* zero */

/* Returns zeroed memory that lives as long as the rows. */
void *rows_alloc(struct rows *rows, size_t bytes);

/* Add sums to a row. The row may keep the pointer, so *sums must outlive the rows unchanged. */
void rows_add_inclusive(struct rows *rows, struct row *row, const struct profile_sums *sums);
void rows_add_exclusive(struct rows *rows, struct row *row, const struct profile_sums *sums);
/* Adds to the counts at a row's samples; NULL adds nothing. */
void rows_add_counters(struct rows *rows, struct row *row, const struct profile_counters *inclusive,
                       const struct profile_counters *exclusive);
/* Computes the inclusive sums. Adds the exclusive sums of statements to those of their functions. */
void rows_sum(struct rows *rows);
/* Adds exact times and counters to the rows. Must be called before rows_order(), which removes rows without
 * any values. */
void rows_add_extras(struct rows *rows, const struct profile *profile);

bool rows_sums_are_zero(const struct profile_sums *sums);

/* Sorts siblings by `metric`, highest first, then by kind and name. Removes rows without cost and exact
 * times. */
void rows_order(struct rows *rows, enum metric metric, bool by_exclusive);

#endif
