/* The output of `blame diff`. */
#ifndef BLAME_COMMAND_COMPARE_DIFF_VIEW_H
#define BLAME_COMMAND_COMPARE_DIFF_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/compare/compare.h"
#include "command/compare/limits.h"
#include "command/text/format.h"

struct diff_style {
    int metric; /* enum metric; -1: all parts of the effort */
    double least_percent;
    size_t top;
    size_t columns;
    bool utf8;
    bool functions; /* whether the contexts are functions, from flat views */
};

/* Prints the whole program's change, and the contexts whose own code changed most. */
void diff_text(FILE *out, const struct comparison *comparison, const struct profile *const *profile,
               const struct diff_style *style);
/* Prints a line for each limit, with the contexts that exceed it. */
void diff_limits_text(FILE *out, const struct comparison *comparison, const struct limit *limit, size_t count,
                      const struct diff_style *style);
/* Writes a line for each context, and one for the wall time. */
void diff_csv(FILE *out, const struct comparison *comparison, enum metric metric);

/* Formats a number. With `sign`, a positive number gets a plus sign: "+1.250". Never writes "-0.000". */
void diff_number(char to[FORMAT_NUMBER_BYTES + 2], double value, int decimals, bool sign);

#endif
