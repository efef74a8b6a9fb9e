/* Finds conditions in which runs differ, so that a comparison may be misleading. */
#ifndef BLAME_COMMAND_COMPARE_COMPARABLE_H
#define BLAME_COMMAND_COMPARE_COMPARABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/profile/profile.h"

/* Prints a line "blame COMMAND: ..." for each condition in which the runs differ: threads, cores, host,
 * arguments, way of measuring. The line names the first run that differs. */
void comparable_complain(FILE *out, const char *command, const struct profile *const *profile, const char *const *name,
                         size_t count);

/* Does the same, except for threads, cores, ranks and arguments. In `blame scaling`, these differ on purpose. */
void comparable_complain_but_size(FILE *out, const char *command, const struct profile *const *profile,
                                  const char *const *name, size_t count);

/* Prints a line if repeated runs are of different builds, and a line if one run is given twice. */
void comparable_complain_repeats(FILE *out, const char *command, const struct profile *const *profile,
                                 const char *const *name, size_t count);

#endif
