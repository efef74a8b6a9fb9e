/* What a process that was killed could not book any more. */
#ifndef BLAME_REPORT_PROFILE_KILLED_H
#define BLAME_REPORT_PROFILE_KILLED_H

#include "report/profile/profile.h"

/* Books, in the merged profile of a process that did not finish: samples that were cut off as such, and
 * waiting that no holder had taken yet below <unreleased lock>, lock by lock. */
void profile_complete_killed(struct profile *profile);

#endif
