/* Lines of source files, for those who want to see them beside the numbers. */
#ifndef BLAME_COMMAND_TEXT_SOURCE_TEXT_H
#define BLAME_COMMAND_TEXT_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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

struct source_text;

/* directory, for_others: see source_file_read(). since_ns: files changed after that
 * time of the epoch count as changed. */
struct source_text *source_text_new(const char *directory, bool for_others, int64_t since_ns);
void source_text_free(struct source_text *sources);

/* The text of a line (from 1 on) without what indents it and ends it; NULL: there is none. Valid until
 * source_text_free(). */
const char *source_text_line(struct source_text *sources, const char *file, int line);

/* Of the files asked for: how many were not found, and how many have changed since; *first gets the first of
 * them, NULL: none. */
size_t source_text_missing(const struct source_text *sources, const char **first);
size_t source_text_changed(const struct source_text *sources, const char **first);

#endif
