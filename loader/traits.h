/* What libomp does differently from libgomp for a program of GCC, as far as the names that the program imports show it. */
#ifndef BLAME_LOADER_TRAITS_H
#define BLAME_LOADER_TRAITS_H

#include <stdbool.h>

#include "loader/elf_view.h"

enum {
    TRAIT_TEAMS = 1,      /* teams on the host */
    TRAIT_SHARES = 2,     /* a construct starts with memory for its team, or with reductions of tasks */
    TRAIT_REDUCES = 4,    /* tasks reduce in a construct */
    TRAIT_CANCELS = 8,    /* cancel */
    TRAIT_DEPRECATED = 16 /* calls of which libomp warns */
};

/* Returns the traits of an object. [init] */
unsigned traits_of(const struct elf_view *object);

/* Returns what libomp does differently, as a text to follow its name; NULL if nothing. cancels: OMP_CANCELLATION is on. [init] */
const char *traits_differ(unsigned traits, bool cancels);

#endif
