/* Decides which names in different runs mean the same function, construct or line. */
#ifndef BLAME_COMMAND_COMPARE_NAMES_H
#define BLAME_COMMAND_COMPARE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "command/profile/profile.h"
#include "command/rows/row.h"

/* Returns a name without the parts that differ between builds and compilers. These are parameters (GCC omits
 * those of inlined functions), numbers of lambdas and unnamed types, and the marks of optimised copies
 * (".isra.0", " [clone .cold]"). A construct loses its line: "relax [parallel]". The caller frees the name. */
char *canonical_name(enum row_kind kind, const char *name);

/* Returns a module's name without its version: "libfoo.so" for "libfoo.so.1.2". The caller frees the name. */
char *canonical_module(const char *module);

/* Returns the length of the function's name before a construct or lambda: 8 for "function [parallel]", 4 for
 * "main::operator()". Returns 0 if the name is neither, or contains no function. */
size_t canonical_host_bytes(const char *canonical);

#define ALIGN_NONE ((size_t)-1)

struct source_line {
    const char *file; /* file name without directories; "" if unknown */
    int line;
};

/* Matches source positions of two builds, which must both be sorted by file and line. Sets match[i] to the
 * index in `a` of the position that matches b[i], or to ALIGN_NONE. Every position of the shorter list is
 * matched, the order is kept, and the sum of the distances in lines is minimal. Lists of equal length are
 * matched one to one. */
void align_source_lines(const struct source_line *a, size_t a_count, const struct source_line *b, size_t b_count,
                        size_t *match);

struct compare_names;

/* Creates an empty table of names. Reads the build ids of all runs. */
struct compare_names *compare_names_new(const struct profile *const *profile, size_t count);
void compare_names_free(struct compare_names *names);

/* Sets entry[] to the number of the name of each row in a run. Equal numbers mean equal names, also in
 * different runs. Runs must be passed in order. */
void compare_names_of_run(struct compare_names *names, size_t run, const struct rows *rows, uint32_t *entry);

/* Returns the canonical name of an entry. */
const char *compare_names_canonical(const struct compare_names *names, uint32_t entry);

/* Returns a copy of a label. Its texts outlive the run. */
struct row_label compare_names_keep(struct compare_names *names, const struct row_label *label);

#endif
