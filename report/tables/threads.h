/* What a thread of the profile was, and how long. */
#ifndef BLAME_REPORT_TABLES_THREADS_H
#define BLAME_REPORT_TABLES_THREADS_H

#include "report/profile/profile.h"

/* "initial", "worker", "helper" or "other". */
const char *thread_kind_name(const struct profile_thread *thread);

#endif
