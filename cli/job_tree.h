/* A job's files, merged in parts, and these in pairs: a tree whose form depends on the number of files alone, so that it does not matter for the
 * result, to the bit, how many processes do it. A process needs memory for two parts, which grow with the ranks' common tree.
 *
 * The parts of level 0 are of JOB_TREE_FILES files each, in the order of the list; part n of the next level is of parts 2n and 2n + 1, or of the
 * former alone. */
#ifndef BLAME_CLI_JOB_TREE_H
#define BLAME_CLI_JOB_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/profile/job.h"

#define JOB_TREE_FILES 64

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

#endif
