/* Rows that are too small to be seen, folded into their parents, so that a page of a huge profile opens. */
#include "command/rows/row.h"

#ifndef BLAME_COMMAND_HTML_FOLD_H
#define BLAME_COMMAND_HTML_FOLD_H

/* The name of rows that stand for folded ones. */
#define FOLD_NAME "(small)"

struct fold {
    struct rows *made;        /* NULL: nothing was folded */
    const struct rows *shown; /* `made`, or the unchanged rows */
    const struct rows *rows;
    uint32_t *number; /* by row: its number in `shown`, ROW_NONE if it was folded; NULL: the same */
    size_t left_out;
    double least_percent; /* 0: nothing was folded */
};

/* Folds rows whose inclusive share of every metric is below least_percent; if that is negative, about as few
 * as leave at most `most` rows (at least 3). The calls that a row's folded
 * children were become one last child, a pseudo row; its folded statements one statement without a line: so
 * all sums stay. */
void fold_small(struct fold *fold, const struct rows *rows, double least_percent, size_t most);
void fold_free(struct fold *fold);

/* The number of a row in `shown`, or ROW_NONE; and that of its nearest ancestor that is there. */
uint32_t fold_number(const struct fold *fold, uint32_t row);
uint32_t fold_nearest(const struct fold *fold, uint32_t row);

#endif
