/* What a report states of a number, by the readers' own function. */
#ifndef BLAME_TESTS_SIMULATOR_STATED_H
#define BLAME_TESTS_SIMULATOR_STATED_H

#include "command/profile/profile.h"

#define STATED_DEVIATIONS 1.96 /* of a stated error */

/* name: as metric_name[] has it. sums: of the same context. */
double stated_error(const struct profile *profile, const char *name, double seconds, const struct profile_sums *sums);

#endif
