/* The directory of a job: the ranks' measurement files, and job.blame, which is merged from them. */
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
    struct job_reference like; /* identity of the job to which all files must belong */
    int jobs;                  /* number of processes that merge; 1: only this process */
    void (*progress)(size_t done, size_t total);
};

/* Returns the number of parts of level 0 (job_files.c describes the tree of parts). */
size_t job_tree_parts(const struct job_tree *tree);

/* Merges `count` parts of level 0, starting at part `first`. `first` must be a multiple of the smallest power
 * of two that is at least `count`. Returns a file in memory for job_tree_read(), which the caller closes, or
 * -1 after a message. */
int job_tree_merge(const struct job_tree *tree, size_t first, size_t count);

/* Reads the part in `file` and merges it with the part in `other` (-1: none). Returns NULL after a message. */
struct profile *job_tree_read(const struct job_tree *tree, int file, int other);
/* Merges two parts as job_tree_read() does, and closes both files. Returns a file in memory with the result,
 * or -1 after a message. */
int job_tree_join(const struct job_tree *tree, int file, int other);

/* Creates an empty file in memory. Returns its descriptor, or -1 after a message. */
int job_tree_file(const char *command);

#define JOB_FILE "job.blame"

/* Returns whether a directory entry has the name of a measurement file; for scandir(). */
int is_measurement(const struct dirent *entry);

/* Returns whether this is the directory of a job. */
bool job_is_there(const char *directory);

/* Message for a command (first argument) about a directory (second). */
#define JOB_WITHOUT_FILES "blame %s: %s: this directory holds no rank's measurement (*.blame)\n"

/* The paths of the ranks' files, sorted by name. */
struct job_files {
    char **path;
    int count;
};

struct job_files job_list_files(const char *directory);
/* Returns the files from which a job's profile was merged; none if the profile is not a job's. `path` is the
 * profile's file or directory. */
struct job_files job_find_files(const char *path, const struct profile *profile);
void job_free_files(struct job_files *files);

/* Merges all ranks' files of the directory into `output`, with `jobs` processes (0: one for each core).
 * Returns false after a message. */
bool job_merge(const char *command, const char *directory, const char *output, int jobs);

/* Reads and merges the files of a tree with several parts. The default implementation uses this process and
 * its children; blame-merge replaces it. On failure, returns NULL after a message or with the reason in
 * *why. */
extern struct profile *(*job_read_tree)(struct job_tree *tree, char **why);

/* Returns the path of job.blame, malloc'ed, or NULL after a message. Merges the job first if job.blame is
 * missing, older than a rank's file, or made while a rank was running. If the directory cannot be written,
 * merges into a temporary file. */
char *job_measurement(const char *command, const char *directory);

#endif
