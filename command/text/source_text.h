/* Reads source files, so that reports can show lines of code beside their numbers. */
#ifndef BLAME_COMMAND_TEXT_SOURCE_TEXT_H
#define BLAME_COMMAND_TEXT_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct source_file {
    char *text; /* contents and a zero byte; the contents themselves have no zero byte */
    size_t bytes;
    int64_t changed_ns; /* time of the last change, in ns since the epoch */
};

/* Returns whether other users may read the output. For a file, its mode decides; for any other output, the
 * answer is true. */
bool source_shown_to_others(FILE *out);

/* Reads a source file. Returns false if the file cannot be read or must not be shown. *why then gives the
 * reason (valid until the next call), and there is nothing to free.
 *
 * `path` is the path in debug information. If source_dir is not NULL, the file is looked for there first, by
 * the whole path and then by shorter and shorter ends of it. If there is none, `path` itself is read, unless
 * it is relative and contains `..`.
 *
 * Debug information may name any file that the user can read. Therefore a file is shown only if its real path
 * lies in source_dir, or looks like that of a source file. If `for_others` is set, other users must also be
 * able to read the file. */
bool source_file_read(struct source_file *file, const char *path, const char *source_dir, bool for_others,
                      const char **why);
void source_file_free(struct source_file *file);

struct source_text;

/* Creates a cache of source files. `directory` is the source_dir of source_file_read(), and `for_others` has
 * the same meaning as there. A file that was modified after since_ns (ns since the epoch) counts as changed. */
struct source_text *source_text_new(const char *directory, bool for_others, int64_t since_ns);
void source_text_free(struct source_text *sources);

/* Returns the text of a line without indentation and newline, or NULL if there is no such line. Lines are
 * counted from 1. The text is valid until source_text_free(). */
const char *source_text_line(struct source_text *sources, const char *file, int line);

/* Return how many of the requested files could not be read (source_text_missing) and how many have changed
 * (source_text_changed). *first is the path of the first such file, or NULL. */
size_t source_text_missing(const struct source_text *sources, const char **first);
size_t source_text_changed(const struct source_text *sources, const char **first);

#endif
