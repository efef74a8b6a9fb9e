/* Contexts that trials have in common: rows are known again by what leads to them. */
#ifndef BLAME_EXPORT_TRIAL_CONTEXTS_H
#define BLAME_EXPORT_TRIAL_CONTEXTS_H

#include <stdint.h>

#include "report/rows/row.h"

/* identity: of the names, modules, files and lines from the root down to a row, and of no other of the rows; the same whenever a run of the same
 * build has the row. path: of kinds and canonical names alone (docs/trials.md), the same in another build; a row of a line has that of its
 * function. Both malloc'ed, by row. */
void contexts_identify(const struct rows *rows, int64_t **identity, int64_t **path);

#endif
