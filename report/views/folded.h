/* Stacks for flame graphs. */
#ifndef BLAME_REPORT_VIEWS_FOLDED_H
#define BLAME_REPORT_VIEWS_FOLDED_H

#include <stdio.h>

#include "report/rows/metric.h"

/* Folded stacks, "a;b;c value": the value of each row itself, with what was cut below it, in whole
 * microseconds (or samples, or events); rows with less than one are left out. */
void view_folded(FILE *out, const struct rows *rows, enum metric metric);

#endif
