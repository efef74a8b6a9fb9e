/* Finds whether every n-th execution of a phase is longer than the others. docs/accounting.md ("Bounds of
 * findings") explains the test. */
#ifndef BLAME_COMMAND_FINDINGS_LATTICE_H
#define BLAME_COMMAND_FINDINGS_LATTICE_H

#include <stdbool.h>
#include <stddef.h>

#define LATTICE_MOST 10000 /* largest number of executions that are examined */

struct lattice {
    /* the lattice as indices into duration[]: first, first + every, first + 2 * every, ... */
    size_t every, first;
    size_t points, hits;   /* number of executions on the lattice, and of those that are long */
    size_t others, strays; /* number of executions off the lattice, and of those that are long */
    double seconds, usual; /* mean durations in seconds, on and off the lattice */
};

/* Finds the lattice of the long executions. duration[i] is in seconds, NAN if execution i was not measured. */
bool lattice_find(const double *duration, size_t count, struct lattice *lattice);

static inline bool lattice_has(const struct lattice *lattice, size_t number)
{
    return number % lattice->every == lattice->first;
}

#endif
