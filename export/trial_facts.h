/* What is known of a run besides its measurement: its environment, its compiler, what the user says of it. */
#ifndef BLAME_EXPORT_TRIAL_FACTS_H
#define BLAME_EXPORT_TRIAL_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/profile/profile.h"

struct fact {
    char *kind, *name, *value;
};

struct facts {
    struct fact *fact;
    size_t count, room;
};

#define FACT_USER        "user"        /* what the user said, by blame run --meta or blame db add --meta */
#define FACT_ENVIRONMENT "environment" /* OMP_... and KMP_... */
#define FACT_MACHINE     "machine"     /* what it ran on, as run.json has it */
#define FACT_OPTION      "option"      /* of the measurement, as run.json has them */
#define FACT_PARAMETER   "parameter"   /* of the program's phases */
#define FACT_BUILD       "build"       /* a module's build id */
#define FACT_COMPILER    "compiler"    /* DW_AT_producer of the program's units, flags included */

/* A second one of a kind and a name takes the place of the first, but of parameters and compilers, which may be several. */
void facts_put(struct facts *facts, const char *kind, const char *name, const char *value);
/* The same of lines NAME=VALUE. less: what all their names begin with, which goes; what is left is made small. */
void facts_put_lines(struct facts *facts, const char *kind, const char *lines, const char *less);
/* All that the measurement has. */
void facts_of_profile(struct facts *facts, const struct profile *profile);
void facts_free(struct facts *facts);

#endif
