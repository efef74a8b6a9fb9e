/* The records of a job's ranks, those whose figures count and those that are named only. */
#ifndef BLAME_REPORT_PROFILE_JOB_RECORDS_H
#define BLAME_REPORT_PROFILE_JOB_RECORDS_H

#include "report/profile/profile.h"

/* Valid until the next one is added. */
struct profile_rank *job_add_record(struct profile *job, uint32_t rank, enum profile_rank_state state,
                                    const char *why);

/* Puts the records, to which threads refer, in the order of ranks. */
void job_sort_records(struct profile *profile);
/* Adds those of ranks that should be there, by the sorted records. */
void job_add_missing(struct profile *profile);

/* The numbers in a file's name, where the file itself cannot say. */
uint32_t job_rank_by_name(const char *path, uint32_t *process);

#endif
