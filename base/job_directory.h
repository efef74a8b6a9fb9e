/* The directory that the processes of a job share: whoever is first makes it, and it says whose it is. The tool joins and
 * leaves it, `blame run` leaves it for who was killed, `blame merge` looks whether what lies there is all of one job.
 *
 * The directory appears with its mark in it (a rename), and no other job's is taken: without locks, on any file system that
 * has mkdir and rename, however many processes begin at once. */
#ifndef BLAME_BASE_JOB_DIRECTORY_H
#define BLAME_BASE_JOB_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define JOB_MARK           ".job"     /* a file with the identity */
#define JOB_LEAVING        ".leaving" /* behind the directory's name: where the mark is while it is removed */
#define JOB_TOLD           ".told"    /* an empty file: somebody has said what to type */
#define JOB_IDENTITY_BYTES 320
#define JOB_RANK_FORMAT    "rank-%06u.blame"

/* Finds or makes the directory `wanted` of that job; where another one's is, `wanted`.1, .2 and so on. False with errno if
 * it cannot be made. [init] */
bool job_directory_join(const char *wanted, const char *identity, mode_t mode, char *path, size_t bytes);

/* Whether it is that job's. Asked once more when a file has been made in it, after which it stays: until then the last one
 * to leave may take it away, and another job have its name. [init] */
bool job_directory_is(const char *path, const char *identity);

/* Removes the directory if nothing but its mark is there. [init] */
void job_directory_leave(const char *path);

/* True for one process: who is to say what to type about a job of which not all ranks end normally. [init] */
bool job_directory_tell(const char *path);

/* The identity in the mark; false: there is none. [init] */
bool job_directory_identity(const char *path, char identity[JOB_IDENTITY_BYTES]);

#endif
