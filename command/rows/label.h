/* Rows as text: as lines of a tree, or as single lines with their callers. */
#ifndef BLAME_COMMAND_ROWS_LABEL_H
#define BLAME_COMMAND_ROWS_LABEL_H

#include "command/rows/metric.h"

/* Returns a row of a tree as one printable line, with the row's name and where it is defined. In "88: solve
 * solve.c:40", line 88 of the row above calls solve. A task or region has such a number only if its caller
 * has two rows with that name. In a bottom-up view, the line is the line of the call. The caller frees the
 * text. */
char *row_tree_label(const struct rows *rows, uint32_t row);

/* Returns a row as a single line, with as many callers as fit: "solve [parallel relax.c:40]  relax.c:44  <
 * main". The source line is the line of the row's most expensive statement, by `metric`, or of a call. "<
 * main:16" means that main also calls a function of that name in another line. An inlined function of a library is
 * replaced as in row_own_label(). The caller frees the text. */
char *row_context_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);

/* Returns a text like row_context_label(), but for the program's own code on whose behalf the row runs. If
 * most of the cost is in a foreign function, the text names the function: "accumulate  p.c:12 (in cos, libm)
 * < main". */
char *row_own_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);
/* Returns a text like row_own_label(), whose line is the line on which own code calls `call`, a row of foreign code.
 * Does not name the called function. */
char *row_call_label(const struct rows *rows, uint32_t call, enum metric metric, size_t columns, bool utf8);
/* Returns a text like row_own_label(), for a row that represents all numbered executions of its phases. A
 * lock's handover is not replaced by own code, because it is nobody's code. */
char *row_culprit_label(const struct rows *rows, uint32_t row, enum metric metric, size_t columns, bool utf8);

#endif
