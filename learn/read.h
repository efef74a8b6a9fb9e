/* Reads searches from the database of trials. */
#ifndef BLAME_LEARN_READ_H
#define BLAME_LEARN_READ_H

#include "learn/cases.h"
#include "trials/database.h"

/* Names of metadata of a try: docs/learning.md. */
#define TUNE_SEARCH   "tune"
#define TUNE_SECONDS  "tune.seconds"
#define TUNE_PROFILED "tune.profiled"
#define TUNE_INPUT    "input."

/* All searches, or one application's (NULL: all); judged. False: why, and nothing is to be freed. */
bool learn_read(struct learn_cases *cases, struct database *database, const char *application);

#endif
