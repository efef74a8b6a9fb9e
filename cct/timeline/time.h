/* When things happened: bins of the states of a tree's threads, and of each context's own time and blame
 * (cct/profile_time.h). The space for a tree does not grow with the run: one lane, a record of a metric's
 * size for each context, and dense bins for TIME_DENSE contexts. When dense bins run out, a context's bins
 * are added to those of the nearest context above with dense bins. The root always has some, so inclusive
 * sums stay exact. Guarantee T1 says who may write. */
#ifndef BLAME_CCT_TIMELINE_TIME_H
#define BLAME_CCT_TIMELINE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "cct/profile_time.h"
#include "cct/tree.h"

/* Starts the bins of a tree that has none yet. [handler] */
void time_begin(struct tree *tree, uint64_t origin_ns);

#define TIME_CUT_BITS 29u /* extra bits of a double's fraction, compared with a float's */

/* Returns random low bits. Sums are floats, rounded up or down at random, so that many small summands are
 * neither lost nor overstated. [handler] */
static inline uint64_t time_chance(uint64_t *dither)
{
    *dither = *dither * 6364136223846793005ull + 1442695040888963407ull;
    return *dither >> (64 - TIME_CUT_BITS);
}

/* Adds to a float, with random rounding. [handler] */
static inline void time_add_float(float *to, double ns, uint64_t *dither)
{
    union {
        double number;
        uint64_t bits;
    } sum = {.number = (double)*to + ns};
    sum.bits = (sum.bits + time_chance(dither)) & ~((1ull << TIME_CUT_BITS) - 1);
    *to = (float)sum.number;
}

void time_add_state_slowly(struct tree *tree, uint64_t at_ns, enum profile_time_state state, double ns); /* [handler] */

/* Adds to a state of the tree's threads, at a time on CLOCK_MONOTONIC. [handler] */
static inline void time_add_state(struct tree *tree, uint64_t at_ns, enum profile_time_state state, double ns)
{
    struct times *times = &tree->times;
    uint64_t after_ns = at_ns - times->origin_ns;
    if (likely(after_ns < times->lane_ns))
        time_add_float(&times->lane->ns[after_ns >> times->lane_shift][state], ns, &times->dither);
    else
        time_add_state_slowly(tree, at_ns, state, ns);
}

/* Adds a value to the context's bins at that time. [handler] */
void time_add(struct tree *tree, uint32_t node_idx, uint64_t at_ns, struct profile_time_value value);

/* For tree_graft(): moves a TIME node's whole record to another node, which may have one. [handler] */
void time_move(struct tree *tree, uint32_t from_idx, uint32_t to_idx);

/* Called before the first and after the last time_move() of a graft. [handler] */
void time_fix(struct times *times, bool fixed);

/* ---- wider bins ---- As the run grows, neighbouring bins are merged in place until bins are 2^shift ns
 * wide. Bins already that wide stay as they are. */

void widen_lane(struct profile_lane *lane, uint32_t shift);        /* [handler] */
void widen_bins(struct profile_bins *bins, uint32_t shift);        /* [handler] */
void widen_few_bins(struct profile_few_bins *few, uint32_t shift); /* [handler] */

#endif
