/* When a run changes: from one level to another, once. docs/accounting.md ("Bounds of findings") has what it rests on. */
#ifndef BLAME_COMMAND_FINDINGS_CHANGE_POINT_H
#define BLAME_COMMAND_FINDINGS_CHANGE_POINT_H

#include <stdbool.h>
#include <stddef.h>

struct change {
    size_t at;            /* the first bin of the second part */
    double before, after; /* parts of the whole, 0 to 1 */
};

/* The one change of part/whole over the bins, if chance and habit do not explain it, and each part is of one level for most of its time. */
bool change_find(const double *part, const double *whole, size_t bins, struct change *change);

#endif
