/* The output of `blame stat`, which tells how much repeated runs of a program differ. */
#ifndef BLAME_COMMAND_COMPARE_STAT_VIEW_H
#define BLAME_COMMAND_COMPARE_STAT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "command/compare/compare.h"

struct stat_style {
    enum metric metric; /* metric shown in the list of contexts */
    size_t top;
    size_t columns;
    bool utf8;
    bool functions; /* whether the contexts are functions, from flat views */
};

/* Prints the statistics. All runs of the comparison must be on one side. */
void stat_text(FILE *out, const struct comparison *comparison, const struct stat_style *style);
/* Writes a line for the wall time, and one for each context, metric and part (inclusive, exclusive) that is
 * not 0. */
void stat_csv(FILE *out, const struct comparison *comparison, enum metric metric);

#endif
