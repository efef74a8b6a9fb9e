/* Selects parts of a tree of rows: the most expensive rows and the paths to them, the rows that match a
 * pattern, or the rows down to a depth. */
#ifndef BLAME_COMMAND_ROWS_FILTER_H
#define BLAME_COMMAND_ROWS_FILTER_H

#include <regex.h>
#include <stdbool.h>

#include "command/rows/metric.h"
#include "command/rows/row.h"

/* Regular expressions that are compared with a row's name and file; NULL: none. */
struct rows_filter {
    const regex_t *focus; /* keeps only the paths through a row that matches */
    /* removes the rows that match; their cost, and the rows that they called, move to the nearest remaining
     * caller, at the line of the call */
    const regex_t *hide;
};

/* Returns a view with the remaining rows. Siblings are sorted by effort, highest first. The sums are those of
 * the remaining rows, but absolute percentages refer to the whole program. The view borrows names and sums
 * from `rows`, which must outlive it. */
struct rows *rows_filter(const struct rows *rows, const struct rows_filter *filter);

/* Marks the rows that have at least `least` per cent of the program's metric, and the rows above them. If the
 * sum of the metric is negative (core idleness with more threads than cores), the percentage refers to the
 * effort. visible[] has one entry per row, all false at first. If `least` is 0, marks all rows. */
void rows_mark_shares(const struct rows *rows, enum metric metric, bool by_exclusive, double least, bool *visible);

/* Remove rows and everything below them: rows_keep() the rows that are not marked, rows_limit_depth() the
 * rows deeper than `depth` (the root has depth 0). The sums do not change, so the inclusive sums of the
 * remaining rows still contain the removed rows. node_row becomes invalid. */
void rows_keep(struct rows *rows, const bool *visible);
void rows_limit_depth(struct rows *rows, uint32_t depth);

#endif
