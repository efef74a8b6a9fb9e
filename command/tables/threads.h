/* The kind and lifetime of a thread. */
#ifndef BLAME_COMMAND_TABLES_THREADS_H
#define BLAME_COMMAND_TABLES_THREADS_H

#include "command/profile/profile.h"

/* Returns "initial", "worker", "helper" or "other". */
const char *thread_kind_name(const struct profile_thread *thread);

#endif
