/* The options of `blame run`: each sets the environment variable of the same meaning. */
#ifndef BLAME_CLI_RUN_OPTIONS_H
#define BLAME_CLI_RUN_OPTIONS_H

#include <stdbool.h>

/* --stacks, --stacks-file */
struct run_stacks {
    bool on;
    const char *file; /* NULL: beside the measurement */
};

/* Reads options up to the program's name and sets the variables. Returns the program's index in argv; 0 after
 * help was printed, -1 after a message about wrong usage. *out: the value of --out; NULL: it was not given. */
int run_options_read(int argc, char **argv, struct run_stacks *stacks, const char **out);

#endif
