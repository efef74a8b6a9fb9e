/* Words that are locks: a library's own mutexes, whose waiters sleep by futex calls of the library on the lock's word.
 *
 * Such a word is 0 while nobody holds the lock, and while threads sleep 2 (glib's GMutex, Rust's Mutex) or 3 (Qt's QMutex).
 * The thread that releases the lock sets it to 0 and wakes one thread. A word counts as a lock once both have been seen:
 * a wait while the word is 2 or 3, and then a wake of one thread while it is 0. Condition variables' counters do not
 * go back to 0, and parkers' words, on each of which one thread sleeps, have other values. A word that threads wait at while it
 * has another value is a lock no longer. A countdown for which a thread waits at 2 or 3 looks like a lock.
 *
 * The table of words has a fixed size. Two words may have the same place there; each then displaces the other. */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_WORDS_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true if the word on which the thread will sleep while it has this value is a lock. [any] */
bool lock_word_waits(uintptr_t word, uint32_t value);

/* Reports that the calling thread is about to wake one of those that sleep on the word. The word may be gone. [any] */
void lock_word_wakes(uintptr_t word);

#endif
