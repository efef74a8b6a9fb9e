/* The folded phases of a job: its ranks' laid over one another. */
#ifndef BLAME_REPORT_PROFILE_FOLD_JOB_H
#define BLAME_REPORT_PROFILE_FOLD_JOB_H

#include "report/profile/job_keys.h"
#include "report/profile/profile.h"

/* Adds a rank's folds, or a part's, to the job's. Idleness as job.c's add_nodes(): times the rank's threads, to be divided by the job's. */
void folds_join(struct profile *job, const struct profile *rank, const struct job_keys *keys);
void folds_divide(struct profile *job);

#endif
