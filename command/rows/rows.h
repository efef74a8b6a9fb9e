/* The rows of a profile. */
#ifndef BLAME_COMMAND_ROWS_ROWS_H
#define BLAME_COMMAND_ROWS_ROWS_H

#include "command/rows/row.h"

struct symbols;

/* The row tree of a profile, siblings with the highest effort first. Borrows metrics from the profile, which
 * must outlive it. */
struct rows *rows_build(const struct profile *profile, struct symbols *symbols);
/* Called now and then by rows_build(); NULL: nobody wants to know. */
extern void (*rows_progress)(size_t done, size_t total);

#endif
