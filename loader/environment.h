/* What our part of the loader reads from the environment that the program got. */
#ifndef BLAME_LOADER_ENVIRONMENT_H
#define BLAME_LOADER_ENVIRONMENT_H

#include <stdbool.h>

struct environment {
    char libomp[4096]; /* BLAME_LIBOMP: the runtime that programs of GCC get; empty: none */
    bool unread;       /* there is no /proc to read it from */
    bool moves_all;    /* BLAME_RUNTIME=libomp */
    bool cancels;      /* OMP_CANCELLATION is set, and not to false */
};

/* Fills an environment that is all zero, from /proc/self/environ: there is no C library here. [init] */
void environment_read(struct environment *environment);

#endif
