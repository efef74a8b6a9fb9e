/* Finds conditions in which runs differ, because they may make a comparison misleading. */
#ifndef BLAME_COMMAND_COMPARE_COMPARABLE_H
#define BLAME_COMMAND_COMPARE_COMPARABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/profile/profile.h"

/* Prints a line "blame COMMAND: ..." for each condition in which the runs differ: threads, cores, host,
 * arguments, way of measuring. The line names the first run, and the first of the others that differs from
 * it. */
void comparable_complain(FILE *out, const char *command, const struct profile *const *profile, const char *const *name,
                         size_t count);

/* Prints such lines for all conditions except threads, cores, ranks and arguments, which differ on purpose in
 * `blame scaling`. */
void comparable_complain_but_size(FILE *out, const char *command, const struct profile *const *profile,
                                  const char *const *name, size_t count);

/* Prints a line if repeated runs are of different builds, and a line if one run is given twice. */
void comparable_complain_repeats(FILE *out, const char *command, const struct profile *const *profile,
                                 const char *const *name, size_t count);

#endif
