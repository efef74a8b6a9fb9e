/* A run as it is put into a database. */
#ifndef BLAME_TRIALS_INPUT_H
#define BLAME_TRIALS_INPUT_H

#include "export/locations.h"
#include "trials/facts.h"

struct trial_input {
    const char *source; /* the profile, as the user gave it */
    const struct profile *profile;
    const struct rows *rows;
    struct locations *locations; /* NULL: sums alone are kept */
    const char *application, *experiment; /* NULL: the program's name, and "default" */
    struct facts *facts, *given;          /* of the run; what the user says of it now, which counts more */
};

#endif
