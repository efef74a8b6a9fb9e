/* Merging the files of a job's ranks into one profile, which blame merge writes as job.blame. */
#ifndef BLAME_COMMAND_PROFILE_JOB_H
#define BLAME_COMMAND_PROFILE_JOB_H

#include <stddef.h>

#include "command/profile/job_reference.h"
#include "command/profile/profile.h"

/* Reads and merges the files one by one. Contexts are matched by build id and address in the binary.
 * identity: the job's, NULL for that of the first file. Missing ranks, and files that are unreadable or of
 * another job, get a record that says so. Returns NULL if no file could be read; *why then describes the
 * first, and the caller frees it. */
struct profile *job_read(const char *const *paths, size_t count, const char *identity, char **why);

/* Reads a part of a job. As long as the order of ranks is kept, any division into parts and smaller parts
 * gives the same result, except for rounding. */
struct profile *job_read_part(const char *const *paths, size_t count, const struct job_reference *like);
/* Joins parts that this program wrote (profile_write_fd) into one. Returns NULL if a file cannot be read
 * back. */
struct profile *job_join_parts(const char *const *paths, size_t count);
/* Completes a part that contains the whole job. Returns the same profile as job_read() would. On failure,
 * frees the part and returns NULL. */
struct profile *job_complete(struct profile *part, char **why);

/* Returns how many processes of ranks a profile covers; 1 if it is not a job. */
size_t job_ranks(const struct profile *profile);

#endif
