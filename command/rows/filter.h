/* Selects parts of a row tree: the rows that matter and the paths to them, or the rows down to a depth. */
#ifndef BLAME_COMMAND_ROWS_FILTER_H
#define BLAME_COMMAND_ROWS_FILTER_H

#include <regex.h>
#include <stdbool.h>

#include "command/rows/metric.h"
#include "command/rows/row.h"

/* Regular expressions for a row's name or file; NULL: none. */
struct rows_filter {
    const regex_t *focus; /* keeps only paths through a row that matches */
    /* Removes rows that match. Their cost goes to the nearest remaining row above, at the line that called
     * them. The rows that they called move there as well. */
    const regex_t *hide;
};

/* Returns a view with the remaining rows, siblings sorted by effort, highest first. Sums are those of the
 * remaining rows, and absolute percentages refer to the whole program. The view borrows names and sums from
 * `rows`, which must outlive it. */
struct rows *rows_filter(const struct rows *rows, const struct rows_filter *filter);

/* Marks the rows with at least `least` per cent of the program's metric, and the rows above them. If the
 * metric's sum is negative (core idleness with more threads than cores), the percentage refers to the effort.
 * visible[] has one entry per row, all false at first. If least is 0, marks all rows. */
void rows_mark_shares(const struct rows *rows, enum metric metric, bool by_exclusive, double least, bool *visible);

/* Remove rows, each with the rows below it: all rows that are not marked, and all rows deeper than `depth`
 * (the root has depth 0). Sums do not change, so a row's inclusive sum still contains the removed rows.
 * node_row becomes invalid. */
void rows_keep(struct rows *rows, const bool *visible);
void rows_limit_depth(struct rows *rows, uint32_t depth);

#endif
