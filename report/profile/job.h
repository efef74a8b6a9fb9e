/* The files of a job's ranks, merged into one profile: what blame merge writes as job.blame. */
#ifndef BLAME_REPORT_PROFILE_JOB_H
#define BLAME_REPORT_PROFILE_JOB_H

#include "report/profile/profile.h"

/* Reads the files one after the other. Contexts meet by build id and address in the binary; what is no rank of this job
 * (identity; NULL: that of the first file), or cannot be read, gets a record that says so, and so do missing ranks. NULL if no
 * file could be read; then *why is malloc'ed text about the first. */
struct profile *job_read(const char *const *paths, size_t count, const char *identity, char **why);

/* Of how many ranks' processes something is in it. 1: it is no job. */
size_t job_ranks(const struct profile *profile);

#endif
