/* Decides whether a file belongs to the job and can be added to the other ranks' files. */
#ifndef BLAME_COMMAND_PROFILE_JOB_REFERENCE_H
#define BLAME_COMMAND_PROFILE_JOB_REFERENCE_H

#include <stdbool.h>

#include "command/profile/profile.h"

/* Properties that all merged ranks of a job have in common. */
struct job_reference {
    const char *identity; /* the job's identity; NULL: ranks of any job */
    bool known;           /* the fields below are set; otherwise the first usable rank sets them */
    char *sample, *counters;
    uint32_t clock;
};

/* Set the fields from a rank, or from the first usable file of a list. If no file is usable, `known` stays
 * false. */
void job_reference_take(struct job_reference *like, const struct profile *rank);
void job_reference_find(struct job_reference *like, const char *const *paths, size_t count);
void job_reference_free(struct job_reference *like);

/* Returns the reason why a rank cannot be added to the job; NULL if it can. */
const char *job_why_foreign(const struct job_reference *like, const struct profile *rank);

#endif
