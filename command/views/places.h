/* What the two parts of the waits view have in common: a line for each place, and the code below it that it waited for. */
#ifndef BLAME_COMMAND_VIEWS_PLACES_H
#define BLAME_COMMAND_VIEWS_PLACES_H

#include <stdio.h>

#include "command/views/style.h"

#define PLACES_INDENT      20 /* columns of numbers before a place */
#define PLACES_PAIR_INDENT 30 /* columns of numbers before what is below it */

/* Returns the columns that are left for a text. */
size_t places_columns(const struct view_style *style, size_t indent);

/* Prints the columns of numbers of a line below a place. */
void places_print_pair(FILE *out, double ns, const struct view_style *style);

/* Prints a text in so many columns, ends the line, and frees the text. */
void places_print_text(FILE *out, char *text, size_t indent, const struct view_style *style);

/* Returns "  file.c:40"; "" if the line is unknown. The caller frees it. */
char *places_line(const char *file, int line);

#endif
