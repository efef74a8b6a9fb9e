/* Notes about the program's phases and events. */
#ifndef BLAME_COMMAND_VIEWS_PROBE_NOTES_H
#define BLAME_COMMAND_VIEWS_PROBE_NOTES_H

#include <stdio.h>

#include "command/rows/row.h"

/* Prints an empty line, then a line for each of these: events that are no longer measured, phases that ended
 * in the wrong order, pauses, and losses. */
void view_text_probe_notes(FILE *out, const struct profile *profile, const struct rows *rows, size_t columns);

#endif
