/* What a thread of the profile was, and how long. */
#ifndef BLAME_COMMAND_TABLES_THREADS_H
#define BLAME_COMMAND_TABLES_THREADS_H

#include "command/profile/profile.h"

/* "initial", "worker", "helper" or "other". */
const char *thread_kind_name(const struct profile_thread *thread);

#endif
