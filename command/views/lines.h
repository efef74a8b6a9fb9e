/* Finds out whether the program was compiled with line numbers. */
#ifndef BLAME_COMMAND_VIEWS_LINES_H
#define BLAME_COMMAND_VIEWS_LINES_H

#include <stdbool.h>

#include "command/rows/row.h"

#define LINES_ADVICE                                                                                                   \
    "the program has no line numbers; compile it with -g to see source lines (optimisation can stay on)"

/* Returns whether samples hit functions of a program that is not the system's, and no such function has a
 * source line. `rows` must come from rows_build(). */
bool lines_are_missing(const struct profile *profile, const struct rows *rows);

#endif
