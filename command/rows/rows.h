/* The rows of a profile. */
#ifndef BLAME_COMMAND_ROWS_ROWS_H
#define BLAME_COMMAND_ROWS_ROWS_H

#include "command/rows/row.h"

struct symbols;

/* Returns the rows of a profile. Siblings are sorted by effort, highest first. The rows borrow sums from the
 * profile, which must outlive them. */
struct rows *rows_build(const struct profile *profile, struct symbols *symbols);
/* Called by rows_build(), if not NULL, to report its progress. */
extern void (*rows_progress)(size_t done, size_t total);

#endif
