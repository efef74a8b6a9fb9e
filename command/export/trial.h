/* Runs as JSON lines for programs that keep or compare many of them: the only thing that lab/ reads of a profile. docs/lab.md describes each
 * line. Numbers are written so that reading them gives the same doubles. */
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
#define FACT_COMPILER "compiler" /* DW_AT_producer of the program's units, flags included */

/* A second one of a kind and a name takes the place of the first, but of parameters and compilers, which may be several. */
void facts_put(struct facts *facts, const char *kind, const char *name, const char *value);
/* All that the measurement has. */
void facts_of_profile(struct facts *facts, const struct profile *profile);
void facts_free(struct facts *facts);

struct findings;

struct trial_run {
    const char *path; /* the profile, as the user gave it or found it */
    const struct profile *profile;
    const struct facts *facts;
    const struct rows *rows;     /* NULL: contexts come later, laid over those of other runs */
    struct locations *locations; /* NULL: of sums alone */
    const struct findings *findings;
};

/* A `run` line, its `finding` and `context` lines, and `location` and `values` lines for each thread or rank that is known. Returns false if a rank's file cannot be read;
 * locations->refusal says why. */
bool export_trial(FILE *out, const struct trial_run *run);

/* `context` and `values` lines of all runs of the comparison, whose `run` lines were written before, in its order. */
void export_trial_compared(FILE *out, const struct comparison *comparison);

#endif
