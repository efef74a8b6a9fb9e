/* The directory of a job: the ranks' files, and job.blame, which is merged from them. */
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
    struct job_reference like; /* the job to which all files must belong */
    int jobs;                  /* number of processes; 1: only this one */
    void (*progress)(size_t done, size_t total);
};

/* Returns the number of parts of level 0. */
size_t job_tree_parts(const struct job_tree *tree);

/* Merges `count` parts of level 0 from `first` on, which must be a multiple of the least power of two that is
 * at least `count`. Returns a file in memory for job_tree_read(), or -1 after a message; the caller closes
 * it. */
int job_tree_merge(const struct job_tree *tree, size_t first, size_t count);

/* Returns the part in a file, merged with that in another file (-1: none); NULL after a message. */
struct profile *job_tree_read(const struct job_tree *tree, int file, int other);
/* Does the same, but returns a file in memory and closes the two; -1 after a message. */
int job_tree_join(const struct job_tree *tree, int file, int other);

/* Returns an empty file in memory, -1 after a message. */
int job_tree_file(const char *command);

#define JOB_FILE "job.blame"

/* Returns whether an entry is a measurement file, by its name, for scandir(). */
int is_measurement(const struct dirent *entry);

/* Returns whether the directory has files of a job's ranks. */
bool job_is_there(const char *directory);

/* Message, with a command and a directory. */
#define JOB_WITHOUT_FILES "blame %s: %s: this directory holds no rank's measurement (*.blame)\n"

/* The ranks' files, ordered by name. */
struct job_files {
    char **path;
    int count;
};

struct job_files job_list_files(const char *directory);
/* Returns the files from which a job's profile was made; none if the profile is not a job's. path: the
 * profile's file or directory. */
struct job_files job_find_files(const char *path, const struct profile *profile);
void job_free_files(struct job_files *files);

/* Merges all files of the directory into `output` with `jobs` processes (0: one for each core). Returns false
 * after a message. */
bool job_merge(const char *command, const char *directory, const char *output, int jobs);

/* Reads and merges the files of a tree that has several parts. By default, this process and its children do.
 * Returns NULL after a message or with *why. */
extern struct profile *(*job_read_tree)(struct job_tree *tree, char **why);

/* Returns the path of job.blame, malloc'ed. It is merged first if it is missing, older than a rank's file, or
 * a snapshot; into a temporary file if the directory cannot be written. Returns NULL after a message. */
char *job_measurement(const char *command, const char *directory);

#endif
