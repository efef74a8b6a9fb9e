/* The bins of contexts in a fold: TIME nodes below them (cct/profile_time.h), in constant space. */
#ifndef BLAME_CCT_FOLD_BINS_H
#define BLAME_CCT_FOLD_BINS_H

#include <stdbool.h>
#include <stdint.h>

#include "cct/profile_time.h"

struct tree;

#define FOLD_DENSE 64u /* contexts of a tree that have all bins */

/* Of one tree. */
struct fold_bins {
    uint32_t dense; /* contexts with all bins so far */
    uint64_t dither;
};

/* Adds it to the context's bin; to that of the nearest one above where the context has no room for another bin, at last to the fold's own: inclusive
 * sums are exact. Its squares are added to the fold's, which say how far sums are to be trusted. False without memory. [handler] */
bool fold_bins_add(struct tree *tree, struct fold_bins *bins, uint32_t fold_idx, uint32_t context, uint32_t bin,
                   const struct profile_time_value *value);

#endif
