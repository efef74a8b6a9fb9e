/* The rows of a part of the measurement (one thread or one rank): those rows of the whole in which the part
 * has cost. */
#ifndef BLAME_COMMAND_ROWS_PART_H
#define BLAME_COMMAND_ROWS_PART_H

#include "command/rows/row.h"

/* Returns the rows in which a part has cost, and the rows above them, in the order and with the names of the
 * whole. Row 0 is the root. rows: the whole's rows, made by rows_build(). node: for each node of the part,
 * the node of the whole. The result borrows sums from the part and labels from `rows`, which must both
 * outlive it. *whole: for each row of the result, its index in `rows`, in ascending order; the caller frees
 * it. */
struct rows *rows_part(const struct rows *rows, const struct profile *part, const uint32_t *node, uint32_t **whole);

#endif
