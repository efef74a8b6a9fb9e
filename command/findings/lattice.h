/* Which numbers of a phase are longer than the others, if that is every n-th. docs/accounting.md ("Bounds of findings") has what it rests on. */
#ifndef BLAME_COMMAND_FINDINGS_LATTICE_H
#define BLAME_COMMAND_FINDINGS_LATTICE_H

#include <stdbool.h>
#include <stddef.h>

#define LATTICE_MOST 10000 /* numbers that are looked at */

struct lattice {
    size_t every, first;   /* of duration[]: first, first + every, ... */
    size_t points, hits;   /* so many there are, and so many of them are long, */
    size_t others, strays; /* the same of all others */
    double seconds, usual; /* means of these two */
};

/* duration: NAN where there is none. */
bool lattice_find(const double *duration, size_t count, struct lattice *lattice);

static inline bool lattice_has(const struct lattice *lattice, size_t number)
{
    return number % lattice->every == lattice->first;
}

#endif
