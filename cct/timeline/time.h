/* Values over time: bins for the states of a tree's threads (a lane), and for each context's own time and
 * blame (cct/profile_time.h). Their size does not grow with the length of the run. A tree has one lane. A
 * context that was sampled in few bins has a record of the size of a metric record; up to TIME_DENSE contexts
 * have dense bins. If no dense bins are left, a context's values are added to those of the nearest context
 * above it with dense bins. The root always has dense bins, so inclusive sums stay exact. Guarantee T1
 * determines which thread may write. */
#ifndef BLAME_CCT_TIMELINE_TIME_H
#define BLAME_CCT_TIMELINE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "cct/profile_time.h"
#include "cct/tree.h"

/* Creates the lane and the root's bins of a tree that has none. The first bin begins at origin_ns, on
 * CLOCK_MONOTONIC. [handler] */
void time_begin(struct tree *tree, uint64_t origin_ns);

/* number of bits that a double's fraction has more than a float's */
#define TIME_CUT_BITS 29u

/* Returns TIME_CUT_BITS random bits. They are added to a double before it is truncated to a float, so that
 * sums are rounded up or down at random. Many small summands are then neither lost nor overstated. [handler] */
static inline uint64_t time_chance(uint64_t *dither)
{
    *dither = *dither * 6364136223846793005ull + 1442695040888963407ull;
    return *dither >> (64 - TIME_CUT_BITS);
}

/* Adds `ns` to a float, rounding up or down at random. [handler] */
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

/* Adds `ns` to a state in the tree's lane, in the bin of at_ns, a time on CLOCK_MONOTONIC. [handler] */
static inline void time_add_state(struct tree *tree, uint64_t at_ns, enum profile_time_state state, double ns)
{
    struct times *times = &tree->times;
    uint64_t after_ns = at_ns - times->origin_ns;
    if (likely(after_ns < times->lane_ns))
        time_add_float(&times->lane->ns[after_ns >> times->lane_shift][state], ns, &times->dither);
    else
        time_add_state_slowly(tree, at_ns, state, ns);
}

/* Takes back `ns` of what was added to the bin of at_ns, at most what it has: readers refuse less than nothing. [owner] */
void time_take_state(struct tree *tree, uint64_t at_ns, enum profile_time_state state, double ns);

/* Adds a value to the context's bins, in the bin of at_ns, a time on CLOCK_MONOTONIC. [handler] */
void time_add(struct tree *tree, uint32_t node_idx, uint64_t at_ns, struct profile_time_value value);

/* Moves the record of a TIME node to another TIME node, and adds it to that node's record if there is one.
 * Only for tree_graft(). [handler] */
void time_move(struct tree *tree, uint32_t from_idx, uint32_t to_idx);

/* Called by a graft with true before its first time_move(), and with false after its last. In between, no
 * context loses its dense bins. [handler] */
void time_fix(struct times *times, bool fixed);

/* ---- wider bins ---- Each function merges neighbouring bins of the record in place until a bin is 2^shift
 * ns wide. It does nothing if the bins are already that wide. */

void widen_lane(struct profile_lane *lane, uint32_t shift);        /* [handler] */
void widen_bins(struct profile_bins *bins, uint32_t shift);        /* [handler] */
void widen_few_bins(struct profile_few_bins *few, uint32_t shift); /* [handler] */

#endif
