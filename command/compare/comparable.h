/* Whether runs can be compared: what differs in how they ran. */
#ifndef BLAME_COMMAND_COMPARE_COMPARABLE_H
#define BLAME_COMMAND_COMPARE_COMPARABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/profile/profile.h"

/* Prints a line "blame COMMAND: ..." for each thing that is not the same in all runs: threads, cores, host,
 * command, how it was measured. A thing is named once, with the first run that differs. */
void comparable_complain(FILE *out, const char *command, const struct profile *const *profile, const char *const *name,
                         size_t count);

/* The same, but for numbers of threads, cores and ranks and arguments, in which runs of `blame scaling` differ. */
void comparable_complain_but_size(FILE *out, const char *command, const struct profile *const *profile,
                                  const char *const *name, size_t count);

/* The same for repeated runs: they must be of one build, and each be given once. */
void comparable_complain_repeats(FILE *out, const char *command, const struct profile *const *profile,
                                 const char *const *name, size_t count);

#endif
