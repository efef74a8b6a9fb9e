/* Rows as text: as lines of a tree, or alone with their callers. */
#ifndef BLAME_COMMAND_ROWS_LABEL_H
#define BLAME_COMMAND_ROWS_LABEL_H

#include "command/rows/metric.h"

/* Returns a row of a tree as one printable line: its name and where it is defined. In "88: solve
 * solve.c:40", line 88 of the row above calls it; a task or region has this number only if its caller has two
 * of that name. In a bottom-up view, the line is that of the call. The caller frees the text. */
char *view_row_label(const struct rows *rows, uint32_t row);

/* Returns a row alone, with as many callers as fit: "solve [parallel relax.c:40]  relax.c:44  < main". The
 * line is that of its statement with the highest metric, or that of a call. "< main:16" means that main calls
 * another function of that name in another line. The caller frees the text. */
char *view_context_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);

/* Returns the same for the program's own code on whose behalf the row runs. If most of the cost is in a
 * foreign function, the text names it: "accumulate  p.c:12 (in cos, libm)  < main". */
char *view_own_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);
/* Returns the same for a row that represents all numbered executions of its phases. A lock's handover is not
 * replaced by own code, as it is nobody's code. */
char *view_culprit_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);

#endif
