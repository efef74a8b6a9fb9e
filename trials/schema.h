/* The database's tables, and how an older database becomes one of today: docs/trials.md. */
#ifndef BLAME_TRIALS_SCHEMA_H
#define BLAME_TRIALS_SCHEMA_H

#include <stddef.h>

#define SCHEMA_APPLICATION 0x626c616d /* "blam": PRAGMA application_id of our databases */

/* What brings a database of version i to version i + 1 (PRAGMA user_version); an empty file is of version 0. A step is never changed once it was
 * released: what is new is a step more. */
extern const char *const schema_steps[];
extern const size_t schema_version;

#endif
