/* Finds which names in different runs mean the same function, construct or line. */
#ifndef BLAME_COMMAND_COMPARE_NAMES_H
#define BLAME_COMMAND_COMPARE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "command/profile/profile.h"
#include "command/rows/row.h"

/* Returns a name without what differs between builds and compilers: parameters (GCC omits those of inlined
 * functions), numbers of lambdas and unnamed types, marks of optimised copies (".isra.0", " [clone .cold]"),
 * and a construct's line: "relax [parallel]". The caller frees it. */
char *canonical_name(enum row_kind kind, const char *name);

/* Returns a module's name without version: "libfoo.so" for "libfoo.so.1.2". The caller frees it. */
char *canonical_module(const char *module);

/* Returns the length of the function's name in front of a construct or lambda: of "function" in "function
 * [parallel]", of "main" in "main::operator()". 0 if the name is neither or names no function. */
size_t canonical_host_bytes(const char *canonical);

#define ALIGN_NONE ((size_t)-1)

struct align_place {
    const char *file; /* without directories; "" if unknown */
    int line;
};

/* Matches source positions of two builds. match[i] is the index in a of b[i], or ALIGN_NONE. Both lists are
 * sorted by align_order(). Every position of the shorter list gets a partner, order is preserved, and the sum
 * of distances in lines is minimal. Lists of equal length are matched one to one. */
void align_places(const struct align_place *a, size_t a_count, const struct align_place *b, size_t b_count,
                  size_t *match);

struct compare_names;

/* Creates a table of names and reads the build ids of all runs. */
struct compare_names *names_new(const struct profile *const *profile, size_t count);
void names_free(struct compare_names *names);

/* Numbers the names of a run: entry[] by row. Equal numbers mean the same name. Runs must come in order. */
void names_of_run(struct compare_names *names, size_t run, const struct rows *rows, uint32_t *entry);

/* Returns an entry's name without what differs between builds. */
const char *names_canonical(const struct compare_names *names, uint32_t entry);

/* Copies a label's texts so that they outlive the run. */
struct row_label names_keep(struct compare_names *names, const struct row_label *label);

#endif
