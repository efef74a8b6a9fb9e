/* The folded phases of a measurement file: a part of profile_read(). */
#ifndef BLAME_REPORT_PROFILE_FOLD_READ_H
#define BLAME_REPORT_PROFILE_FOLD_READ_H

#include "report/profile/chunks.h"
#include "report/profile/profile.h"

/* Fills the folds of *profile, whose names are there. Returns NULL, or what is wrong with the file. */
const char *profile_read_folds(const struct profile_chunks *chunks, struct profile *profile);

#endif
