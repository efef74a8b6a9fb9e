/* Parts of a row tree: the paths that matter, without the rows that do not, as deep as asked for. */
#ifndef BLAME_COMMAND_ROWS_FILTER_H
#define BLAME_COMMAND_ROWS_FILTER_H

#include <regex.h>
#include <stdbool.h>

#include "command/rows/metric.h"
#include "command/rows/row.h"

/* Regular expressions for a row's name or file; NULL: none. */
struct rows_filter {
    const regex_t *focus; /* only paths that lead through a row that matches */
    const regex_t *hide;  /* rows that match vanish: what they cost goes to the line that called them, in the
                             nearest row above that is left, and their callees hang below that */
};

/* The rows that are left, siblings with the highest effort first. Sums are of what is left, absolute
 * percentages of the whole program. Borrows names and sums from `rows`, which must outlive it. */
struct rows *rows_filter(const struct rows *rows, const struct rows_filter *filter);

/* Marks rows of at least `least` percent of the program's metric (where its sum is negative, as core
 * idleness with more threads than cores: of its effort), and what leads to them; visible[] has a place for
 * each row, all false. All rows if least is 0. */
void rows_mark_shares(const struct rows *rows, enum metric metric, bool by_exclusive, double least, bool *visible);

/* Takes away all rows that are not marked with all below them, or all deeper than `depth` (the root has depth
 * 0). Sums stay, so that a row's inclusive one has what is gone; node_row becomes invalid. */
void rows_keep(struct rows *rows, const bool *visible);
void rows_limit_depth(struct rows *rows, uint32_t depth);

#endif
