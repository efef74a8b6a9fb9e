/* Lines of source files, for those who want to see them beside the numbers. */
#ifndef BLAME_REPORT_TEXT_SOURCE_TEXT_H
#define BLAME_REPORT_TEXT_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
