/* Lines of source files, which are shown beside the numbers. */
#ifndef BLAME_COMMAND_TEXT_SOURCE_TEXT_H
#define BLAME_COMMAND_TEXT_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct source_file {
    char *text; /* contents, followed by the only zero byte */
    size_t bytes;
    int64_t changed_ns; /* time of the last change, in ns since the epoch */
};

/* Returns whether others may read the output. For a file, its mode decides; for anything else, the answer is
 * true. */
bool source_shown_to_others(FILE *out);

/* Reads a source file. Returns false if it must not or cannot be shown. *why then gives the reason (valid
 * until the next call), and there is nothing to free.
 *
 * `path` is the path in debug information. Among the files below source_dir (NULL: none), the one that
 * matches the longest end of `path` is read. If none matches, `path` itself is read, unless it is relative
 * and contains `..`.
 *
 * Debug information may name any file that the user can read. Therefore, a file is shown only if its real
 * path is below source_dir, or has the name of a source file. If `for_others` is set, others must also be
 * able to read the file. */
bool source_file_read(struct source_file *file, const char *path, const char *source_dir, bool for_others,
                      const char **why);
void source_file_free(struct source_file *file);

struct source_text;

/* `directory` and `for_others` are those of source_file_read(). Files changed after since_ns (ns since the
 * epoch) count as changed. */
struct source_text *source_text_new(const char *directory, bool for_others, int64_t since_ns);
void source_text_free(struct source_text *sources);

/* Returns a line of a file, counted from 1, without indentation and line end; NULL if there is none. Valid
 * until source_text_free(). */
const char *source_text_line(struct source_text *sources, const char *file, int line);

/* Return the number of requested files that were not found, and that were changed. *first is the first of
 * them, NULL if there is none. */
size_t source_text_missing(const struct source_text *sources, const char **first);
size_t source_text_changed(const struct source_text *sources, const char **first);

#endif
