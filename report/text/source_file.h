/* Source files, as debug information names them. */
#ifndef BLAME_REPORT_TEXT_SOURCE_FILE_H
#define BLAME_REPORT_TEXT_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Larger files are not read. */
#define SOURCE_FILE_BYTES (16u << 20)

struct source_file {
    char *text; /* ends in a zero byte, and has no other */
    size_t bytes;
    int64_t changed_ns; /* since the epoch */
};

/* Whether others may read what is written there: an open file by its mode; what has none, yes. */
bool source_shown_to_others(FILE *out);

/* Reads a file that debug information calls `path`: the one below `source_dir` (NULL: none) whose path has
 * the longest end in common with it; if there is none, the file at the path, unless that is relative and has
 * `..` in it. Debug information may name any file of whoever reads it: taken is what, links followed, lies
 * below `source_dir` or is a source by its name; and for others only what they may read themselves. False:
 * `why` says it in some words (valid until the next call); nothing to free. */
bool source_file_read(struct source_file *file, const char *path, const char *source_dir, bool for_others,
                      const char **why);
void source_file_free(struct source_file *file);

#endif
