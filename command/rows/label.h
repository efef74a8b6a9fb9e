/* Rows as text: in a tree, or on their own with their callers. */
#ifndef BLAME_COMMAND_ROWS_LABEL_H
#define BLAME_COMMAND_ROWS_LABEL_H

#include "command/rows/metric.h"

/* A row of a tree as one printable line: its name, and where it is defined ("88: solve  solve.c:40" when
 * called in line 88 of the row above; of a task or region only where its caller has two of that name) or, in a bottom-up view, where it calls. malloc'ed. */
char *view_row_label(const struct rows *rows, uint32_t row);

/* A row on its own, with its callers as far as they fit: "solve [parallel relax.c:40]  relax.c:44  < main".
 * The line is that of its statement with the highest metric, or where it was called. "< main:16": main calls another of that name
 * in another line. malloc'ed. */
char *view_context_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);

/* The same of the program's own code that the row runs for, with what it called to get there, if most of it is
 * there: "accumulate  p.c:12 (in cos, libm)  < main". */
char *view_own_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);
/* The same of a row that stands for those of all numbered executions; a lock's handing on is none's code. */
char *view_culprit_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);

#endif
