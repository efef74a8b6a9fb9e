/* Which names of different runs mean the same function, construct or line. */
#ifndef BLAME_COMPARE_NAMES_H
#define BLAME_COMPARE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "report/profile/profile.h"
#include "report/rows/row.h"

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
