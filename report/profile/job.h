/* The files of a job's ranks, merged into one profile: what blame merge writes as job.blame. */
#ifndef BLAME_REPORT_PROFILE_JOB_H
#define BLAME_REPORT_PROFILE_JOB_H

#include "report/profile/profile.h"

/* Reads the files one after the other. Contexts meet by build id and address in the binary; what is no rank of this job
 * (identity; NULL: that of the first file), or cannot be read, gets a record that says so, and so do missing ranks. NULL if no
 * file could be read; then *why is malloc'ed text about the first. */
struct profile *job_read(const char *const *paths, size_t count, const char *identity, char **why);

/* What a rank's figures must be like to be added to the job's. */
struct job_reference {
    const char *identity; /* NULL: any */
    bool known;           /* the others are; else those of the first one that is read are taken */
    char *sample, *counters;
    uint32_t clock;
};

/* Fills it in by the first file that can be used; not known, if there is none. */
void job_reference_find(struct job_reference *like, const char *const *paths, size_t count);
void job_reference_free(struct job_reference *like);

/* A part of a job, of ranks' files or of files that such parts were written to (profile_write_fd). In the order of the ranks, any cut
 * of them into parts, and of these into others, gives the same but for rounding. */
struct profile *job_read_part(const char *const *paths, size_t count, const struct job_reference *like);
/* The part is the whole job: as job_read(). Frees it where that is NULL. */
struct profile *job_complete(struct profile *part, char **why);

/* Of how many ranks' processes something is in it. 1: it is no job. */
size_t job_ranks(const struct profile *profile);

#endif
