/* Which files are of ranks of a job, and can be added up. */
#ifndef BLAME_COMMAND_PROFILE_JOB_REFERENCE_H
#define BLAME_COMMAND_PROFILE_JOB_REFERENCE_H

#include <stdbool.h>

#include "command/profile/profile.h"

/* What a rank's figures must be like to be added to the job's. */
struct job_reference {
    const char *identity; /* NULL: any */
    bool known;           /* the others are; else those of the first one that is read are taken */
    char *sample, *counters;
    uint32_t clock;
};

/* Fills it in: by a rank, or by the first of the files that can be used; not known, if there is none. */
void job_reference_take(struct job_reference *like, const struct profile *rank);
void job_reference_find(struct job_reference *like, const char *const *paths, size_t count);
void job_reference_free(struct job_reference *like);

/* NULL, or why the rank's figures cannot be added to those of that job. */
const char *job_why_foreign(const struct job_reference *like, const struct profile *rank);

#endif
