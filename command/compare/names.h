/* Which names of different runs mean the same function, construct or line. */
#ifndef BLAME_COMMAND_COMPARE_NAMES_H
#define BLAME_COMMAND_COMPARE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "command/profile/profile.h"
#include "command/rows/row.h"

/* The name of a function or construct without what differs between builds and compilers: parameters (GCC has
 * none of inlined functions), numbers of lambdas and unnamed types, marks of copies that the optimiser made
 * (".isra.0", " [clone .cold]"), and the place of a construct: "relax [parallel]". malloc'ed. */
char *canonical_name(enum row_kind kind, const char *name);

/* A module without its version: "libfoo.so" of "libfoo.so.1.2". malloc'ed. */
char *canonical_module(const char *module);

/* Bytes of the function around a construct or a lambda: of "function" in "function [parallel]", of "main" in
 * "main::operator()"; 0: the name is neither, or says none. */
size_t canonical_host_bytes(const char *canonical);

#define ALIGN_NONE ((size_t)-1)

struct align_place {
    const char *file; /* without folders; "": not known */
    int line;
};

/* match[i] = the place of a that b[i] is, ALIGN_NONE: none. Both in order (align_order). Every place of the
 * shorter list gets one of the longer, order is kept, and the sum of the distances in lines is the least:
 * equally many places are matched in their order. */
void align_places(const struct align_place *a, size_t a_count, const struct align_place *b, size_t b_count,
                  size_t *match);

struct compare_names;

/* Looks at the build ids of all runs. */
struct compare_names *names_new(const struct profile *const *profile, size_t count);
void names_free(struct compare_names *names);

/* Gives each row of a run the number of its name, entry[] by row; equal numbers are the same name. Runs come
 * in their order. */
void names_of_run(struct compare_names *names, size_t run, const struct rows *rows, uint32_t *entry);

/* The name without what changes from build to build. */
const char *names_canonical(const struct compare_names *names, uint32_t entry);

/* Copies the label's texts, so that they outlive the run. */
struct row_label names_keep(struct compare_names *names, const struct row_label *label);

#endif
