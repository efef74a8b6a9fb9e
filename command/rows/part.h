/* The rows of a part of the measurement (a thread or a rank): those rows of the whole in which the part has
 * cost. */
#ifndef BLAME_COMMAND_ROWS_PART_H
#define BLAME_COMMAND_ROWS_PART_H

#include "command/rows/row.h"

/* Returns the rows in which a part has cost, and the rows above them, in the whole's order and with its
 * names; row 0 is the root. `rows` are the whole's, made by rows_build(). node: by the part's nodes, the
 * nodes of the whole's profile. Sums are borrowed from the part and labels from `rows`: both must outlive the
 * result. *whole: by row of the result, its number in `rows`, rising; malloc'ed. */
struct rows *rows_part(const struct rows *rows, const struct profile *part, const uint32_t *node, uint32_t **whole);

#endif
