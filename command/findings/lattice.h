/* Finds whether every n-th execution of a phase is longer than the others. docs/accounting.md ("Bounds of
 * findings") explains the test. */
#ifndef BLAME_COMMAND_FINDINGS_LATTICE_H
#define BLAME_COMMAND_FINDINGS_LATTICE_H

#include <stdbool.h>
#include <stddef.h>

#define LATTICE_MOST 10000 /* executions that are examined */

struct lattice {
    size_t every, first;   /* indices into duration[]: first, first + every, ... */
    size_t points, hits;   /* executions on the lattice; how many of them are long */
    size_t others, strays; /* executions off the lattice; how many of them are long */
    double seconds, usual; /* mean durations on and off the lattice */
};

/* Finds the lattice of long executions. duration[i] is NAN if execution i was not measured. */
bool lattice_find(const double *duration, size_t count, struct lattice *lattice);

static inline bool lattice_has(const struct lattice *lattice, size_t number)
{
    return number % lattice->every == lattice->first;
}

#endif
