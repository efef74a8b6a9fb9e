/* Chooses the rows of the page. In a huge profile, rows that are too small to be seen are merged into rows
 * named "(small)", so that a browser can open the page. */
#include "command/rows/row.h"

#ifndef BLAME_COMMAND_HTML_PAGE_TREE_H
#define BLAME_COMMAND_HTML_PAGE_TREE_H

/* name of the rows that contain the merged rows */
#define PAGE_TREE_SMALL "(small)"

struct page_tree {
    struct rows *made;        /* rows made for the page; NULL: no row was merged */
    const struct rows *shown; /* rows of the page: `made`, or `rows` if no row was merged */
    const struct rows *rows;
    /* for each row of the profile, its number in `shown`, or ROW_NONE if it was merged; NULL: all numbers are
     * unchanged */
    uint32_t *number;
    size_t left_out;
    double least_percent; /* rows with a smaller share of every metric were merged; 0: no row was merged */
};

/* Merges rows whose inclusive share of every metric is below least_percent. If least_percent is negative,
 * merges as few rows as necessary to leave at most `most` rows, which must be at least 3. The merged calls of
 * a row become one pseudo row, its last child. Its merged statements become one statement without a line.
 * Therefore all sums stay the same. */
void page_tree_make(struct page_tree *tree, const struct rows *rows, double least_percent, size_t most);
void page_tree_free(struct page_tree *tree);

/* page_tree_number returns the number of a profile's row in `shown`, or ROW_NONE if the row was merged.
 * page_tree_nearest returns the number of the row, or of its nearest ancestor that was not merged. */
uint32_t page_tree_number(const struct page_tree *tree, uint32_t row);
uint32_t page_tree_nearest(const struct page_tree *tree, uint32_t row);

#endif
