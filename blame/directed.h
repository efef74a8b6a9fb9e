/* Directed blame: what threads waited for a lock, gathered until its holder releases it (LMF13, 3.1.2
 * and 3.1.3).
 *
 * Tables keyed by lock and holder, open addressing, a larger one behind each that has no room; entries are
 * made by samples and stay. The holder is a thread's state line: a release is told after the lock is free, so
 * the next owner may be done before the callback of the first runs, and must not take what was meant for that
 * one. Guarantee B1: what is added is taken exactly once, by a release or at the end, because each sum is
 * taken by one exchange; a release takes the three sums of the same samples. */
#ifndef BLAME_BLAME_DIRECTED_H
#define BLAME_BLAME_DIRECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "blame/contended.h"

#define DIRECTED_ANY_HOLDER 0xfffu /* whoever releases next: `ordered`, whose turn is nobody's possession */

/* Blame that travels from waiters to a holder; nanoseconds. */
struct lock_blame {
    double lock_wait;
    double inverse_busy;
    double shared_idle;
};

/* Adds a waiter's sample. False when the tables are full (or the wait id is wider than 48 bits): the caller
 * keeps the blame under its own name. [handler] */
bool directed_add(uint64_t key, uint32_t holder, const struct lock_blame *blame);

/* A probe and a read. [handler] */
bool directed_waiting_for(uint64_t key, uint32_t holder);

/* True if waiters may have left something for the holder of the lock. What is being left at this moment is
 * found by the next release, or at the end. [handler] */
static inline bool directed_waiting(uint64_t key, uint32_t holder)
{
    return unlikely(contended_has_blame(key)) && directed_waiting_for(key, holder);
}

/* Takes what waits for the holder of the lock; false when there is nothing. [handler] */
bool directed_take(uint64_t key, uint32_t holder, struct lock_blame *blame);

/* Takes what is left anywhere, entry by entry: *cursor starts at 0; false at the end. *key and *holder say
 * whose. [init] */
bool directed_take_rest(uint32_t *cursor, uint64_t *key, uint32_t *holder, struct lock_blame *blame);

/* Empties the table: the child of a fork. [init] */
void directed_reset(void);

#endif
