/* The files of a job's ranks, merged into one profile: what blame merge writes as job.blame. */
#ifndef BLAME_COMMAND_PROFILE_JOB_H
#define BLAME_COMMAND_PROFILE_JOB_H

#include <stddef.h>

#include "command/profile/job_reference.h"
#include "command/profile/profile.h"

/* Reads the files one after the other. Contexts meet by build id and address in the binary; what is no rank of this job
 * (identity; NULL: that of the first file), or cannot be read, gets a record that says so, and so do missing ranks. NULL if no
 * file could be read; then *why is malloc'ed text about the first. */
struct profile *job_read(const char *const *paths, size_t count, const char *identity, char **why);

/* A part of a job. In the order of the ranks, any cut of them into parts, and of these into others, gives the same but for rounding. */
struct profile *job_read_part(const char *const *paths, size_t count, const struct job_reference *like);
/* The part that several are; the files are of this program's own making (profile_write_fd). NULL: they cannot be read again. */
struct profile *job_join_parts(const char *const *paths, size_t count);
/* The part is the whole job: as job_read(). Frees it where that is NULL. */
struct profile *job_complete(struct profile *part, char **why);

/* Of how many ranks' processes something is in it. 1: it is no job. */
size_t job_ranks(const struct profile *profile);

#endif
