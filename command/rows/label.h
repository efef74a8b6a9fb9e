/* Rows as text: in a tree, or alone with their callers. */
#ifndef BLAME_COMMAND_ROWS_LABEL_H
#define BLAME_COMMAND_ROWS_LABEL_H

#include "command/rows/metric.h"

/* Returns a row of a tree as one printable line: its name, and where it is defined ("88: solve  solve.c:40"
 * if line 88 of the row above calls it; for a task or region only if its caller has two of that name) or, in
 * a bottom-up view, where it calls. malloc'ed. */
char *view_row_label(const struct rows *rows, uint32_t row);

/* Returns a row alone, with as many callers as fit: "solve [parallel relax.c:40]  relax.c:44  < main". The
 * line is that of its statement with the highest metric, or that of the call. "< main:16" means that main
 * calls another function of that name in another line. malloc'ed. */
char *view_context_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);

/* Returns the same for the program's own code that the row runs for. Names the foreign function it called if
 * most of the cost is there: "accumulate  p.c:12 (in cos, libm)  < main". */
char *view_own_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);
/* Returns the same for a row that stands for those of all numbered executions. The handing over of a lock is
 * nobody's code. */
char *view_culprit_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);

#endif
