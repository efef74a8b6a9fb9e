/* What `blame scaling` prints. */
#ifndef BLAME_COMPARE_SCALING_VIEW_H
#define BLAME_COMPARE_SCALING_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "compare/scaling.h"

#define SCALING_ENOUGH 5 /* different numbers: fewer do not tell forms of a model apart */
#define SCALING_UNTOLD 2 /* limits apart by more than this factor: the data cannot tell */

struct scaling_style {
    const char *by; /* "threads", "ranks": what p is */
    size_t top, columns;
    bool utf8;
};

void scaling_text(FILE *out, const struct scaling *scaling, const struct scaling_style *style);
/* A line for each point of the whole and of each context, and metric that is not 0. */
void scaling_csv(FILE *out, const struct scaling *scaling, const struct scaling_style *style);

#endif
