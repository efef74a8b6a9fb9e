/* The rows of a profile. */
#ifndef BLAME_COMMAND_ROWS_ROWS_H
#define BLAME_COMMAND_ROWS_ROWS_H

#include "command/rows/row.h"

struct symbols;

/* Returns the rows of a profile, siblings sorted by effort, highest first. Borrows sums from the profile,
 * which must outlive the rows. */
struct rows *rows_build(const struct profile *profile, struct symbols *symbols);
/* Reports the progress of rows_build(), if not NULL. */
extern void (*rows_progress)(size_t done, size_t total);

#endif
