/* The trace beside the profile of the same run. */
#ifndef BLAME_TESTS_SIMULATOR_TRACED_H
#define BLAME_TESTS_SIMULATOR_TRACED_H

#include <stddef.h>

#include "command/profile/profile.h"

/* What is wrong with it, in text; NULL: each state and each context has the samples' time that the ledgers and the tree
 * have, in time's order, but for what the last periods of threads overlap with the next thread of the same tree. Where the
 * run was stopped there are not more samples than were recorded. */
const char *traced_wrong(struct profile *profile, bool ended, char *text, size_t bytes);

#endif
