/* The rows of a part of what was measured, a thread or a rank: those of the whole in which it has something. */
#ifndef BLAME_COMMAND_ROWS_PART_H
#define BLAME_COMMAND_ROWS_PART_H

#include "command/rows/row.h"

/* `rows` are the whole's, as rows_build() made them; node: by the part's nodes those of the whole's profile. Made are the rows that have anything of the
 * part's, with what is above them, in the whole's order, under the whole's names; row 0 is the root. Their sums are the part's and are borrowed from
 * it, labels from `rows`: both must outlive them. *whole: by row made its number in `rows`, rising; malloc'ed. */
struct rows *rows_part(const struct rows *rows, const struct profile *part, const uint32_t *node, uint32_t **whole);

#endif
