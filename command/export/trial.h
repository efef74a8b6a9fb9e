/* Writes runs as JSON lines, for programs that store or compare many runs. lab/ reads profiles only in this
 * form. docs/lab.md describes each line. Numbers have enough digits to restore the same doubles. */
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
/* DW_AT_producer of the program's compilation units, which includes the compiler's flags */
#define FACT_COMPILER "compiler"

/* Adds a fact about the run. It replaces an earlier fact with the same kind and name, unless it is a
 * parameter or a compiler. These may have several values. */
void export_facts_put(struct facts *facts, const char *kind, const char *name, const char *value);
/* Adds all facts that are stored in the profile. */
void export_facts_of_profile(struct facts *facts, const struct profile *profile);
void export_facts_free(struct facts *facts);

struct findings;

struct trial_run {
    const char *path; /* path of the profile, as the user wrote it or as it was found */
    const struct profile *profile;
    const struct facts *facts;
    const struct rows *rows;     /* rows; NULL: export_trial_compared() writes the contexts later */
    struct locations *locations; /* locations; NULL: only the sums of all locations are written */
    const struct findings *findings;
};

/* Writes the `run` line of a run, its `finding` and `context` lines, and `location` and `values` lines for
 * each known thread or rank. Returns false if the file of a rank cannot be read; locations->refusal then
 * gives the reason. */
bool export_trial(FILE *out, const struct trial_run *run);

/* Writes the `context` and `values` lines of all runs in a comparison. Their `run` lines must already be
 * written, in the same order. */
void export_trial_compared(FILE *out, const struct comparison *comparison);

#endif
