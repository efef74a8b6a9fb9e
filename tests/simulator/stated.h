/* What a report states of a number, by the readers' own function. */
#ifndef BLAME_TESTS_SIMULATOR_STATED_H
#define BLAME_TESTS_SIMULATOR_STATED_H

#include "command/profile/profile.h"

#define STATED_DEVIATIONS 1.96 /* of a stated error */

/* name: as metric_name[] has it. Of the same context: own, busy seconds, idle_beside and trees (struct profile_sums). */
double stated_error(const struct profile *profile, const char *name, double seconds, double own, double idle_beside,
                    uint64_t trees);

#endif
