/* What a user should know of the program's phases and events beside their times. */
#ifndef BLAME_COMMAND_VIEWS_PROBE_NOTES_H
#define BLAME_COMMAND_VIEWS_PROBE_NOTES_H

#include <stdio.h>

#include "command/rows/row.h"

/* One line each, behind an empty line: events not measured any more, what was ended in a wrong order, pauses,
 * what was lost. */
void view_text_probe_notes(FILE *out, const struct profile *profile, const struct rows *rows, size_t columns);

#endif
