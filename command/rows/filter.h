/* Parts of a row tree: the rows that matter and the paths to them, down to a depth. */
#ifndef BLAME_COMMAND_ROWS_FILTER_H
#define BLAME_COMMAND_ROWS_FILTER_H

#include <regex.h>
#include <stdbool.h>

#include "command/rows/metric.h"
#include "command/rows/row.h"

/* Regular expressions for a row's name or file; NULL for none. */
struct rows_filter {
    const regex_t *focus; /* keeps only paths through a row that matches */
    /* removes rows that match: their cost goes to the line that called them in the nearest remaining row
     * above, which also gets their callees */
    const regex_t *hide;
};

/* Returns the remaining rows, siblings with the highest effort first. Sums are of the remaining rows,
 * absolute percentages of the whole program. Borrows names and sums from `rows`, which must outlive it. */
struct rows *rows_filter(const struct rows *rows, const struct rows_filter *filter);

/* Marks the rows that have at least `least` percent of the program's metric, and the rows that lead to them.
 * Where the metric's sum is negative (core idleness with more threads than cores), the percentage is of the
 * effort. visible[] has a place for each row, all false at first. Marks all rows if least is 0. */
void rows_mark_shares(const struct rows *rows, enum metric metric, bool by_exclusive, double least, bool *visible);

/* Remove all rows that are not marked, with the rows below them; and all rows deeper than `depth` (the root
 * has depth 0). Sums stay: a row's inclusive sum still contains the removed rows. node_row becomes invalid. */
void rows_keep(struct rows *rows, const bool *visible);
void rows_limit_depth(struct rows *rows, uint32_t depth);

#endif
