/* Finds whether a run changes once, from one level to another. docs/accounting.md ("Bounds of findings")
 * explains the test. */
#ifndef BLAME_COMMAND_FINDINGS_CHANGE_POINT_H
#define BLAME_COMMAND_FINDINGS_CHANGE_POINT_H

#include <stdbool.h>
#include <stddef.h>

struct change {
    size_t at;            /* the first bin of the second part */
    double before, after; /* levels of part/whole in the two parts, 0 to 1 */
};

/* Finds the one change in the level of part/whole over the bins. Returns false if chance or ordinary
 * variation explains the change, or if a part is not at its level for most of its time. */
bool change_find(const double *part, const double *whole, size_t bins, struct change *change);

#endif
