/* Source files, as debug information names them. */
#ifndef BLAME_REPORT_SOURCE_FILE_H
#define BLAME_REPORT_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger files are not read. */
#define SOURCE_FILE_BYTES (16u << 20)

struct source_file {
    char *text; /* ends in a zero byte, and has no other */
    size_t bytes;
    int64_t changed_ns; /* since the epoch */
};

/* Reads a file that debug information calls `path`: the one below `source_dir` (NULL: none) whose path has
 * the longest end in common with it; if there is none, the file at the path, unless that is relative and has
 * `..` in it. False: `why` says it in some words (valid until the next call); nothing to free. [init] */
bool source_file_read(struct source_file *file, const char *path, const char *source_dir, const char **why);
void source_file_free(struct source_file *file); /* [init] */

#endif
