/* What a thread of the profile was, and how long. */
#ifndef BLAME_REPORT_TABLES_THREADS_H
#define BLAME_REPORT_TABLES_THREADS_H

#include <stdint.h>

#include "report/profile/profile.h"

/* "initial", "worker", "helper" or "other". */
const char *thread_kind_name(const struct profile_thread *thread);
/* When the thread ended, or was last seen. */
uint64_t thread_end_ns(const struct profile_thread *thread);

#endif
