/* When: the states of a tree's threads, and each context's own time and the blame laid on it, in bins (cct/profile_time.h). What a tree
 * has of it does not grow with the run: one lane, a record of a metric's size for every context, and dense bins for TIME_DENSE of
 * them. Where these do not suffice, the bins of a context are added to those of the nearest one above that has dense bins, at last of the root,
 * which always has: so inclusive sums stay exact. Written by whoever may write the tree (guarantee T1). */
#ifndef BLAME_CCT_TIMELINE_TIME_H
#define BLAME_CCT_TIMELINE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "cct/profile_time.h"
#include "cct/tree.h"

/* Bins are kept of the tree from now on, which has none yet. [handler] */
void time_begin(struct tree *tree, uint64_t origin_ns);

#define TIME_CUT_BITS 29u /* that a double's fraction has more than a float's */

/* Sums are floats: each is rounded up or down by chance, so that many small summands are not lost, or too large, in the end. [handler] */
static inline uint64_t time_chance(uint64_t *dither)
{
    *dither = *dither * 6364136223846793005ull + 1442695040888963407ull;
    return *dither >> (64 - TIME_CUT_BITS);
}

/* [handler] */
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

/* A thread of the tree was in that state, at that moment of CLOCK_MONOTONIC. [handler] */
static inline void time_add_state(struct tree *tree, uint64_t at_ns, enum profile_time_state state, double ns)
{
    struct times *times = &tree->times;
    uint64_t after_ns = at_ns - times->origin_ns;
    if (likely(after_ns < times->lane_ns))
        time_add_float(&times->lane->ns[after_ns >> times->lane_shift][state], ns, &times->dither);
    else
        time_add_state_slowly(tree, at_ns, state, ns);
}

/* The context has so much at that moment. [handler] */
void time_add(struct tree *tree, uint32_t node_idx, uint64_t at_ns, struct profile_time_value value);

/* For tree_graft(): all of one TIME node's record is another's now, which may have one. [handler] */
void time_move(struct tree *tree, uint32_t from_idx, uint32_t to_idx);

/* Before the first and after the last of these. [handler] */
void time_fix(struct times *times, bool fixed);

/* ---- wider bins ----
 * Bins that become wider as the run grows: neighbours are merged, in place, until bins are 2^shift ns wide. Those that are as wide stay. */

void widen_lane(struct profile_lane *lane, uint32_t shift);          /* [handler] */
void widen_bins(struct profile_bins *bins, uint32_t shift);          /* [handler] */
void widen_moments(struct profile_moments *moments, uint32_t shift); /* [handler] */

#endif
