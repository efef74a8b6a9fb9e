/* Decides which files belong to a job's ranks and can be added up. */
#ifndef BLAME_COMMAND_PROFILE_JOB_REFERENCE_H
#define BLAME_COMMAND_PROFILE_JOB_REFERENCE_H

#include <stdbool.h>

#include "command/profile/profile.h"

/* What a rank must have in common with the job to be added. */
struct job_reference {
    const char *identity; /* NULL: any */
    bool known;           /* the other fields are set; otherwise the first rank that is read sets them */
    char *sample, *counters;
    uint32_t clock;
};

/* Set the fields from a rank, or from the first usable file. If no file is usable, `known` stays false. */
void job_reference_take(struct job_reference *like, const struct profile *rank);
void job_reference_find(struct job_reference *like, const char *const *paths, size_t count);
void job_reference_free(struct job_reference *like);

/* Returns why the rank cannot be added to the job, NULL if it can. */
const char *job_why_foreign(const struct job_reference *like, const struct profile *rank);

#endif
