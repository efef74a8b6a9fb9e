/* Takes trials out of a database. */
#ifndef BLAME_TRIALS_PRUNE_H
#define BLAME_TRIALS_PRUNE_H

#include <stddef.h>
#include <stdint.h>

#include "trials/database.h"

/* These trials, and what only they had: contexts, experiments, applications. All or nothing. False: why. */
bool trials_remove(struct database *database, const int64_t *trials, size_t count);

#endif
