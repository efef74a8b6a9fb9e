/* Lines of source files, to show beside the numbers. */
#ifndef BLAME_COMMAND_TEXT_SOURCE_TEXT_H
#define BLAME_COMMAND_TEXT_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct source_file {
    char *text; /* ends with the file's only zero byte */
    size_t bytes;
    int64_t changed_ns; /* ns since the epoch */
};

/* Returns whether others may read what is written to `out`: by its mode for a file, true for anything else. */
bool source_shown_to_others(FILE *out);

/* Reads a source file. Returns false if it may not or cannot be shown; *why then says why (valid until the
 * next call), and there is nothing to free.
 *
 * path: as in debug information. Among the files below source_dir (may be NULL), the one that matches the
 * longest end of the path is read; if there is none, the path itself, unless it is relative and contains
 * `..`.
 *
 * Debug information may name any file that the user can read. A file is shown only if its real path is below
 * source_dir or has the name of a source file. With for_others, others must be able to read the file, too. */
bool source_file_read(struct source_file *file, const char *path, const char *source_dir, bool for_others,
                      const char **why);
void source_file_free(struct source_file *file);

struct source_text;

/* directory, for_others: see source_file_read(). since_ns: files changed after this time (ns since the epoch)
 * count as changed. */
struct source_text *source_text_new(const char *directory, bool for_others, int64_t since_ns);
void source_text_free(struct source_text *sources);

/* Returns a line of a file, counted from 1, without indentation and line end; NULL if there is none. Valid
 * until source_text_free(). */
const char *source_text_line(struct source_text *sources, const char *file, int line);

/* Return how many of the requested files were not found, and how many have changed. *first is the first of
 * them, NULL if there is none. */
size_t source_text_missing(const struct source_text *sources, const char **first);
size_t source_text_changed(const struct source_text *sources, const char **first);

#endif
