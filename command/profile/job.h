/* Merges the files of a job's ranks into one profile, which blame merge writes as job.blame. */
#ifndef BLAME_COMMAND_PROFILE_JOB_H
#define BLAME_COMMAND_PROFILE_JOB_H

#include <stddef.h>

#include "command/profile/job_reference.h"
#include "command/profile/profile.h"

/* Reads the files of a job's ranks one by one and merges them. Contexts of two ranks are the same context if
 * the build id and the address in the binary are the same. `identity` is the job's identity; if NULL, the
 * identity of the first file's job is used. A missing rank, an unreadable file and a file of another job get
 * a record that says so. Returns NULL if no file could be used; *why then says why, and the caller frees it. */
struct profile *job_read(const char *const *paths, size_t count, const char *identity, char **why);

/* Reads a part of a job. The ranks can be divided into parts, and these into smaller parts, in any way that
 * keeps the order of the ranks. The result is the same except for rounding. */
struct profile *job_read_part(const char *const *paths, size_t count, const struct job_reference *like);
/* Joins several parts, which this program has written (profile_write_fd), into one part. Returns NULL if a
 * file cannot be read. */
struct profile *job_join_parts(const char *const *paths, size_t count);
/* Completes a part that contains all ranks of the job. The profile is the same as from job_read(). On
 * failure, frees the part, sets *why and returns NULL. */
struct profile *job_complete(struct profile *part, char **why);

/* Returns the number of processes whose measurements were merged into the profile; 1 for the profile of a
 * single process. */
size_t job_ranks(const struct profile *profile);

#endif
