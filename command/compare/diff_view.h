/* What `blame diff` prints. */
#ifndef BLAME_COMMAND_COMPARE_DIFF_VIEW_H
#define BLAME_COMMAND_COMPARE_DIFF_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/compare/compare.h"
#include "command/compare/limits.h"
#include "command/text/format.h"

struct diff_style {
    int metric; /* enum metric; -1: the four that make up the effort */
    double least_percent;
    size_t top;
    size_t columns;
    bool utf8;
    bool functions; /* the comparison is of flat views */
};

/* The whole program's change, and the contexts whose own change is greatest. */
void diff_text(FILE *out, const struct comparison *comparison, const struct profile *const *profile,
               const struct diff_style *style);
/* A line for each limit. */
void diff_limits_text(FILE *out, const struct comparison *comparison, const struct limit *limit, size_t count,
                      const struct diff_style *style);
/* A line for each context, and one for the wall time. */
void diff_csv(FILE *out, const struct comparison *comparison, enum metric metric);

/* "+1.250 s" or "+3.1 % of the work", with its sign; "-0.000" never. */
void diff_number(char to[FORMAT_NUMBER_BYTES + 2], double value, int decimals, bool sign);

#endif
