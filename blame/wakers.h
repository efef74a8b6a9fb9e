/* Who wakes whom: for each object at which a sample has found a thread waiting (a condition variable, a semaphore), the
 * context of the last thread that signalled it.
 *
 * The table is a hash table of fixed size. Samples of waiting threads make the entries, and an entry is free again when
 * the last of these waits has ended. If there is no free entry, the wait's waker stays unknown.
 *
 * Guarantee K1: an entry that a waiter has joined never names a waker of another object, because the counter in
 * `waker` changes when the entry gets another object. A waker reads the counter before it looks at the object. */
#ifndef BLAME_BLAME_WAKERS_H
#define BLAME_BLAME_WAKERS_H

#include <stdbool.h>
#include <stdint.h>

/* Counts the calling thread as one that waits for the object. Sets *before to the last waker so far. Returns the
 * number of the object's entry; 0 if there is no room. [handler] */
uint32_t wakers_join(uint64_t object, uint64_t *before);
void wakers_leave(uint32_t entry); /* [handler] */

/* Returns what wakers_join() has set *before to, as of now, for a thread that has stayed joined. [owner] */
uint64_t wakers_before(uint32_t entry);

#define WAKERS_TIMES 4u

/* Sets `times` to the times, in ticks, at which threads have signalled the entry's object since `before`, the oldest first,
 * and returns their number: at most the last WAKERS_TIMES. [handler] */
uint32_t wakers_times(uint32_t entry, uint64_t before, uint64_t times[WAKERS_TIMES]);

/* Counts the calling thread, which has joined, as one that waits now (more: 1), or no longer (-1). [handler] */
void wakers_count_waiting(uint32_t entry, int32_t more);

/* Returns the time, in ticks, of the first signal since `before`, if of those that have joined only one waited then: the
 * signal was for that thread. Otherwise returns 0. [handler] */
uint64_t wakers_woke_one(uint32_t entry, uint64_t before);

/* Returns the node of the thread that was the last to signal the entry's object. Returns 0 if that node is unknown, or if
 * nobody has signalled the object since `before`. [owner] */
uint32_t wakers_last(uint32_t entry, uint64_t before);

/* Returns true if a thread may have joined the object. [owner] */
bool wakers_are_awaited(uint64_t object);

/* Notes the node of the thread that is about to signal the object; 0: unknown. [owner] */
void wakers_note(uint64_t object, uint32_t node_idx);

/* Sets the word that counts the threads that have joined. Those that signal read only this word. [init] */
void wakers_count(uint32_t *word);

/* Empties the table, in the child of a fork. [init] */
void wakers_reset(void);

#endif
