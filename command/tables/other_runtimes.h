/* OpenMP runtimes in the process that are not measured. Their regions look like ordinary code of the thread
 * that starts them. Their other threads do not appear in any value. */
#ifndef BLAME_COMMAND_TABLES_OTHER_RUNTIMES_H
#define BLAME_COMMAND_TABLES_OTHER_RUNTIMES_H

#include <stddef.h>

#include "command/profile/profile.h"

struct other_runtime {
    const char *path;
    double seconds; /* s sampled in the runtime and its callees */
};

#define OTHER_RUNTIMES_MOST 4

/* Stores the other runtimes that samples found, at most OTHER_RUNTIMES_MOST. Returns their number. */
size_t other_runtimes(const struct profile *profile, struct other_runtime *found);

#endif
