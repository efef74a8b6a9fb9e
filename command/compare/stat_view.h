/* What `blame stat` prints: how the runs of one program scatter. */
#ifndef BLAME_COMMAND_COMPARE_STAT_VIEW_H
#define BLAME_COMMAND_COMPARE_STAT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "command/compare/compare.h"

struct stat_style {
    enum metric metric; /* of the contexts that are shown */
    size_t top;
    size_t columns;
    bool utf8;
    bool functions; /* the comparison is of flat views */
};

/* The comparison has its runs on one side. */
void stat_text(FILE *out, const struct comparison *comparison, const struct stat_style *style);
/* A line for the wall time, and for each context, metric and part that is not 0. */
void stat_csv(FILE *out, const struct comparison *comparison, enum metric metric);

#endif
