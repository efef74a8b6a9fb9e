/* Directed blame: keeps the time that threads wait for a lock, until the lock's holder releases it (LMF13,
 * 3.1.2 and 3.1.3).
 *
 * The blame is in hash tables with open addressing. When a table is full, a larger one is added. Samples
 * create the entries, which are never removed. The key is the lock and the state line of its holder. The lock
 * alone is not enough, because the runtime reports a release only after the lock is free: the next owner may
 * release the lock before the first owner's callback runs, and must not take the first owner's blame.
 * Guarantee B1: everything added is taken exactly once, by a release or at the end, because each sum is taken
 * by one exchange. A release takes the three sums of the same samples. */
#ifndef BLAME_BLAME_DIRECTED_H
#define BLAME_BLAME_DIRECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "blame/contended.h"

/* stands for the next thread that releases the lock: a turn in `ordered` belongs to nobody, and who holds a lock of
 * POSIX threads is not known */
#define DIRECTED_ANY_HOLDER 0xfffu

/* stands for a thread that is not measured and has released a lock of POSIX threads: the blame stays until the end */
#define DIRECTED_NOT_MEASURED 0xffeu

/* in a lock's key: the blame of a holder that had no core; not with locks whose holder is DIRECTED_ANY_HOLDER */
#define DIRECTED_NO_CORE (8ull << 56)

/* Returns true if no state line names the lock's holder: the blame is for the next thread that releases the lock.
 * [handler] */
static inline bool directed_is_for_any_holder(uint64_t key)
{
    return PROFILE_LOCK_KEY_KIND(key) >= PROFILE_LOCK_ORDERED;
}

static inline bool directed_is_no_core(uint64_t key) /* [handler] */
{
    return PROFILE_LOCK_KEY_KIND(key) > PROFILE_LOCK_SPIN && PROFILE_LOCK_KEY_KIND(key) < PROFILE_LOCK_WORD;
}

/* Returns the lock's own key. [handler] */
static inline uint64_t directed_lock_of(uint64_t key)
{
    return directed_is_no_core(key) ? key & ~DIRECTED_NO_CORE : key;
}

/* Blame that travels from waiters to a holder, in ns. */
struct lock_blame {
    double lock_wait;
    double inverse_busy;
    double shared_idle;
};

/* Adds a waiter's sample. Returns false if the tables are full or the wait id is wider than 48 bits; the
 * caller then books the blame under a name of its own. [handler] */
bool directed_add(uint64_t key, uint32_t holder, const struct lock_blame *blame);

/* Returns true if the table holds blame for the holder of the lock. Costs one search and one read. [handler] */
bool directed_waiting_for(uint64_t key, uint32_t holder);

/* Returns true if waiters may have left blame for the holder of the lock. Blame that is being added right now
 * is found by the next release or at the end. [handler] */
static inline bool directed_waiting(uint64_t key, uint32_t holder)
{
    return unlikely(contended_has_blame(key & ~DIRECTED_NO_CORE)) && directed_waiting_for(key, holder);
}

/* Takes the blame that waits for this holder of the lock. Returns false if there is none. [handler] */
bool directed_take(uint64_t key, uint32_t holder, struct lock_blame *blame);

/* Takes the blame that is left in the tables, one entry per call. *cursor must be 0 at the first call. Sets
 * *key and *holder to the lock and the holder of the entry. Returns false at the end. [init] */
bool directed_take_rest(uint32_t *cursor, uint64_t *key, uint32_t *holder, struct lock_blame *blame);

/* Empties the table, in the child of a fork. [init] */
void directed_reset(void);

#endif
