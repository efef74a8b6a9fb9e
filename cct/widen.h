/* Bins that become wider as the run grows: neighbours are merged, in place, until bins are 2^shift ns wide. Those that are as wide stay. */
#ifndef BLAME_CCT_WIDEN_H
#define BLAME_CCT_WIDEN_H

#include <stdint.h>

#include "cct/profile_time.h"

void widen_lane(struct profile_lane *lane, uint32_t shift);          /* [handler] */
void widen_bins(struct profile_bins *bins, uint32_t shift);          /* [handler] */
void widen_moments(struct profile_moments *moments, uint32_t shift); /* [handler] */

#endif
