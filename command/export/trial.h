/* Runs as JSON lines, for programs that store or compare many runs. lab/ reads profiles only in this form.
 * docs/lab.md describes each line. Numbers have enough digits to read the same doubles back. */
#ifndef BLAME_COMMAND_EXPORT_TRIAL_H
#define BLAME_COMMAND_EXPORT_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "command/compare/compare.h"
#include "command/export/locations.h"
#include "command/profile/profile.h"

struct fact {
    char *kind, *name, *value;
};

struct facts {
    struct fact *fact;
    size_t count, room;
};
#define FACT_COMPILER "compiler" /* DW_AT_producer of the program's compilation units, with flags */

/* Adds a fact. It replaces an earlier fact with the same kind and name, except for parameters and compilers,
 * which may have several values. */
void facts_put(struct facts *facts, const char *kind, const char *name, const char *value);
/* Adds all facts that the profile contains. */
void facts_of_profile(struct facts *facts, const struct profile *profile);
void facts_free(struct facts *facts);

struct findings;

struct trial_run {
    const char *path; /* the profile's path, as the user gave it or as it was found */
    const struct profile *profile;
    const struct facts *facts;
    const struct rows *rows;     /* NULL: contexts are written later, by export_trial_compared */
    struct locations *locations; /* NULL: only sums are written */
    const struct findings *findings;
};

/* Writes a `run` line, its `finding` and `context` lines, and `location` and `values` lines for each thread
 * or rank that is known. Returns false if a rank's file cannot be read; locations->refusal says why. */
bool export_trial(FILE *out, const struct trial_run *run);

/* Writes `context` and `values` lines for all runs of the comparison. Their `run` lines must have been
 * written before, in the comparison's order. */
void export_trial_compared(FILE *out, const struct comparison *comparison);

#endif
