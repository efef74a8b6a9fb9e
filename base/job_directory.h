/* The directory shared by the processes of a job. The first process makes it, and a mark inside says which
 * job owns it. The tool joins and leaves it, `blame run` leaves it for a killed process, and `blame merge`
 * checks that all files in it are of one job.
 *
 * The directory appears together with its mark, by a rename, and never takes the place of another job's. This
 * needs no locks, works on every file system with mkdir and rename, and holds for any number of processes
 * that start at once. */
#ifndef BLAME_BASE_JOB_DIRECTORY_H
#define BLAME_BASE_JOB_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define JOB_MARK ".job" /* name of the mark: a file with the job's identity */
/* appended to the directory's name: path of the mark while the directory is being removed */
#define JOB_LEAVING        ".leaving"
#define JOB_TOLD           ".told" /* an empty file: a process has already printed the command to type */
#define JOB_IDENTITY_BYTES 320
#define JOB_RANK_FORMAT    "rank-%06u.blame"

/* Finds or makes the job's directory with the name `wanted`. If another job has it, the name is `wanted`.1,
 * .2 and so on. Returns false with errno set if it cannot be made. [init] */
bool job_directory_join(const char *wanted, const char *identity, mode_t mode, char *path, size_t bytes);

/* Returns true if the directory is that job's. A process that has made a file inside asks again; from then on
 * the directory stays. Before, the last process to leave may have removed it, and another job may have taken
 * its name. [init] */
bool job_directory_is(const char *path, const char *identity);

/* Removes the directory if it contains nothing but its mark. [init] */
void job_directory_leave(const char *path);

/* Returns true for one process only: it prints what to type if not all ranks of the job end normally. [init] */
bool job_directory_tell(const char *path);

/* Reads the identity in the mark. Returns false if there is none. [init] */
bool job_directory_identity(const char *path, char identity[JOB_IDENTITY_BYTES]);

#endif
