/* The rows of a profile. */
#ifndef BLAME_COMMAND_ROWS_ROWS_H
#define BLAME_COMMAND_ROWS_ROWS_H

#include "command/rows/row.h"

struct symbols;

/* Returns the row tree of a profile, siblings with the highest effort first. Borrows metrics from the
 * profile, which must outlive it. */
struct rows *rows_build(const struct profile *profile, struct symbols *symbols);
/* Progress function that rows_build() calls now and then; NULL for none. */
extern void (*rows_progress)(size_t done, size_t total);

#endif
