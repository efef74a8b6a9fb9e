/* Folded phases: what happens along one instance of a numbered phase, of all of them laid over one another (cct/fold.h). */
#ifndef BLAME_REPORT_PROFILE_FOLD_H
#define BLAME_REPORT_PROFILE_FOLD_H

#include "report/profile/profile.h"

/* Of the name's phase; NULL: it is not folded, or no sample was taken in such an instance. */
const struct merged_fold *profile_fold_of(const struct profile *profile, uint32_t name, bool outliers);

/* A profile that has the fold's nodes in place of its own, for rows; it borrows all it has. */
struct profile profile_of_fold(const struct profile *profile, const struct merged_fold *fold);

/* Adds the bins up, for rows. */
void fold_sum_bins(struct merged_fold *fold);

#endif
