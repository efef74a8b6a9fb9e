/* The directory that all processes of a job share. The first process makes it; a file in it, the mark, tells
 * which job owns it. The tool joins and leaves the directory, `blame run` leaves it on behalf of a killed
 * process, and `blame merge` checks that all files in it come from one job.
 *
 * A rename makes the directory appear together with its mark, and a rename never replaces another job's
 * directory. This needs no locks, and works on all file systems that have mkdir and rename, for any number of
 * processes that start at the same time. */
#ifndef BLAME_BASE_JOB_DIRECTORY_H
#define BLAME_BASE_JOB_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define JOB_MARK ".job" /* name of the mark, a file that contains the job's identity */
/* added to the directory's name, gives the path to which the mark is moved while the directory is being
 * removed */
#define JOB_LEAVING ".leaving"
/* name of an empty file that exists once a process has printed the command that the user should type */
#define JOB_TOLD           ".told"
#define JOB_IDENTITY_BYTES 320
#define JOB_RANK_FORMAT    "rank-%06u.blame"

/* Finds or makes the job's directory. It is named `wanted`, or `wanted`.1, .2 and so on if another job has
 * that name. Writes the directory's path to `path`. Returns false with errno set if the directory cannot be
 * made. [init] */
bool job_directory_join(const char *wanted, const char *identity, mode_t mode, char *path, size_t bytes);

/* Returns true if the directory belongs to this job. A process must call this again after it has made its
 * first file in the directory: before that, the last other process may have removed the directory, and
 * another job may have taken the name. Afterwards the directory stays. [init] */
bool job_directory_is(const char *path, const char *identity);

/* Removes the directory if it contains nothing except its mark. [init] */
void job_directory_leave(const char *path);

/* Returns true in only one process of the job. That process prints the command that the user should type if
 * some ranks do not end normally. [init] */
bool job_directory_tell(const char *path);

/* Reads the identity of the job that owns the directory. Returns false if there is no mark. [init] */
bool job_directory_identity(const char *path, char identity[JOB_IDENTITY_BYTES]);

#endif
