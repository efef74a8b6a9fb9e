/* The directory of a job: its ranks' files, and job.blame, which is made of them. */
#ifndef BLAME_COMMAND_CLI_JOB_FILES_H
#define BLAME_COMMAND_CLI_JOB_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "command/profile/job.h"

struct job_tree {
    const char *command; /* for messages */
    const char *const *paths;
    size_t count;
    struct job_reference like; /* known to all parts */
    int jobs;                  /* processes side by side; 1: this one */
    void (*progress)(size_t done, size_t total);
};

/* How many parts of level 0 there are. */
size_t job_tree_parts(const struct job_tree *tree);

/* Merges `count` of these from `first` on, which must be a multiple of the least power of two that is at least `count`. Returns a file
 * in memory, to be read by job_tree_read() and closed, or -1 after a message. */
int job_tree_merge(const struct job_tree *tree, size_t first, size_t count);

/* The part of one file, or that of two (-1: none). NULL after a message. */
struct profile *job_tree_read(const struct job_tree *tree, int file, int other);
/* The same as a file in memory; the others are closed. -1 after a message. */
int job_tree_join(const struct job_tree *tree, int file, int other);

/* An empty file in memory, -1 after a message. */
int job_tree_file(const char *command);

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
