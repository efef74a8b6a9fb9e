/* The summary that is printed when the program ends. */
#ifndef BLAME_COMMAND_VIEWS_SUMMARY_H
#define BLAME_COMMAND_VIEWS_SUMMARY_H

#include <stdio.h>

#include "command/profile/profile.h"
#include "command/tables/tables.h"

void view_text_trace_note(FILE *out, const struct profile *profile);

/* Prints how much time was lost and in which code, in some twenty lines. dir: the directory, as the user
 * would type it. */
void report_print_summary(FILE *out, const struct profile *profile, const struct report_tables *tables,
                          const char *dir);

#endif
