/* The directory of a job: its ranks' files, and job.blame, which is made of them. */
#ifndef BLAME_CLI_JOB_FILES_H
#define BLAME_CLI_JOB_FILES_H

#include <dirent.h>
#include <stdbool.h>

#include "cli/job_tree.h"

#define JOB_FILE "job.blame"

/* For scandir(): whether it is a measurement file, by its name. */
int is_measurement(const struct dirent *entry);

/* Whether ranks of a job left their files there. */
bool job_is_there(const char *directory);

/* Of a command and a directory. */
#define JOB_WITHOUT_FILES "blame %s: %s: no rank's measurement (*.blame) is in this directory\n"

/* The ranks' files, by their names. */
struct job_files {
    char **path;
    int count;
};

struct job_files job_list_files(const char *directory);
/* Of which a job's profile was made: a file, or the directory that it is in. None of one that is no job's. */
struct job_files job_find_files(const char *path, const struct profile *profile);
void job_free_files(struct job_files *files);

/* Merges all files of the directory into `output`, by so many processes; 0: as many as there are cores. False after a message. */
bool job_merge(const char *command, const char *directory, const char *output, int jobs);

/* What reads the files where these are several parts of a tree; this process and its children, unless it is set. NULL
 * after a message, or with *why. */
extern struct profile *(*job_read_tree)(struct job_tree *tree, char **why);

/* The path of job.blame, malloc'ed, which is made if it is not there, older than a rank's file, or a snapshot; elsewhere, until the command ends,
 * if the directory cannot be written to. NULL after a message. */
char *job_measurement(const char *command, const char *directory);

#endif
