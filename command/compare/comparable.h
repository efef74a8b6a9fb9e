/* Whether runs can be compared: how the conditions of the runs differ. */
#ifndef BLAME_COMMAND_COMPARE_COMPARABLE_H
#define BLAME_COMMAND_COMPARE_COMPARABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/profile/profile.h"

/* Prints a line "blame COMMAND: ..." for each condition that differs between runs: threads, cores, host,
 * command, way of measuring. Each is named once, with the first run that differs. */
void comparable_complain(FILE *out, const char *command, const struct profile *const *profile, const char *const *name,
                         size_t count);

/* The same, except for threads, cores, ranks and arguments, which differ on purpose in `blame scaling`. */
void comparable_complain_but_size(FILE *out, const char *command, const struct profile *const *profile,
                                  const char *const *name, size_t count);

/* The same for repeated runs, which must be of one build. Also complains about a run given twice. */
void comparable_complain_repeats(FILE *out, const char *command, const struct profile *const *profile,
                                 const char *const *name, size_t count);

#endif
