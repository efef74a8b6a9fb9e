/* Decides whether a file belongs to the job and can be merged with the files of the other ranks. */
#ifndef BLAME_COMMAND_PROFILE_JOB_REFERENCE_H
#define BLAME_COMMAND_PROFILE_JOB_REFERENCE_H

#include <stdbool.h>

#include "command/profile/profile.h"

/* Properties that all merged ranks of a job must share. */
struct job_reference {
    const char *identity; /* the job's identity; NULL: ranks of any job are accepted */
    bool known;           /* whether the fields below are set; if not, the first usable rank sets them */
    char *sample, *counters;
    uint32_t clock;
};

/* Set the fields of `like` from a rank, or from the first usable file of a list. If no file is usable,
 * `known` stays false. */
void job_reference_take(struct job_reference *like, const struct profile *rank);
void job_reference_find(struct job_reference *like, const char *const *paths, size_t count);
void job_reference_free(struct job_reference *like);

/* Returns the reason why a rank cannot be added to the job; NULL if it can. */
const char *job_why_foreign(const struct job_reference *like, const struct profile *rank);

#endif
