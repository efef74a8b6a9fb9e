/* Folds rows that are too small to be seen into their parents, so that a browser can open the page of a huge
 * profile. */
#include "command/rows/row.h"

#ifndef BLAME_COMMAND_HTML_FOLD_H
#define BLAME_COMMAND_HTML_FOLD_H

/* name of the rows that stand for folded rows */
#define FOLD_NAME "(small)"

struct fold {
    struct rows *made;        /* NULL: nothing was folded */
    const struct rows *shown; /* `made`, or `rows` if nothing was folded */
    const struct rows *rows;
    /* by row: its number in `shown`, ROW_NONE if it was folded; NULL: numbers are unchanged */
    uint32_t *number;
    size_t left_out;
    double least_percent; /* rows with a smaller share were folded; 0: nothing was folded */
};

/* Folds rows whose inclusive share of every metric is below least_percent. If that is negative, folds as few
 * rows as necessary so that at most `most` rows remain (at least 3). The folded calls of a row become one
 * pseudo row, its last child. Its folded statements become one statement without a line. Therefore all sums
 * stay the same. */
void fold_small(struct fold *fold, const struct rows *rows, double least_percent, size_t most);
void fold_free(struct fold *fold);

/* fold_number returns the number of a row in `shown`, or ROW_NONE if it was folded. fold_nearest returns the
 * number of the row, or of its nearest ancestor that is shown. */
uint32_t fold_number(const struct fold *fold, uint32_t row);
uint32_t fold_nearest(const struct fold *fold, uint32_t row);

#endif
