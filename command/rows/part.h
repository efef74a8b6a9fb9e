/* The rows of a part of the measurement (one thread or one rank): the rows of the whole measurement in which
 * the part has cost. */
#ifndef BLAME_COMMAND_ROWS_PART_H
#define BLAME_COMMAND_ROWS_PART_H

#include "command/rows/row.h"

/* Returns the rows in which a part has cost, and the rows above them, with the order and the names of the
 * whole measurement. Row 0 is the root. rows: the rows of the whole measurement, made by rows_build(). node:
 * for each node of the part, the node of the whole. The result borrows sums from the part and labels from
 * `rows`, which must both outlive it. *whole: for each row of the result, its index in `rows`, in ascending
 * order; the caller frees the list. */
struct rows *rows_part(const struct rows *rows, const struct profile *part, const uint32_t *node, uint32_t **whole);

#endif
