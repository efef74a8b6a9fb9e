/* Decides which locks are stamped. A thread that stamps a lock reads the clock when it asks for, acquires and
 * releases the lock. A waiter's sample can then find out who held the lock when the sample was due
 * (docs/accounting.md, "Which locks are stamped").
 *
 * A thread that takes few locks stamps all of them. Other threads stamp only the locks for which a sample has
 * recently seen a waiter. These are in a table of bytes, indexed by a hash of the lock's key. Only handlers
 * write the table. Guarantee B2: while blame waits for a holder of the lock (directed.h), no thread's line
 * says STATE_STAMPS_NONE, and the lock's byte is not 0; for a lock of POSIX threads, the word that its release reads is
 * not 0. */
#ifndef BLAME_BLAME_CONTENDED_H
#define BLAME_BLAME_CONTENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "blame/state.h"

#define CONTENDED_BITS  10
#define CONTENDED_SLOTS (1u << CONTENDED_BITS)

/* Length of an age in ns. A lock without a waiter for this long is forgotten, at the latest after twice this
 * time. */
#define CONTENDED_AGE_NS 1000000000ull

/* A thread stamps all locks, at about 30 ns each, if its acquisitions are this many ns apart on average, or
 * more. */
#define CONTENDED_RARE_NS 4000u

/* Samples that are fewer ns apart do not show how often the thread takes locks. */
#define CONTENDED_PACE_NS 50000u

/* for each slot: number of the age in which a waiter was last seen; 0: none */
extern uint8_t contended_seen[CONTENDED_SLOTS];

static inline uint32_t contended_slot(uint64_t key) /* [handler] */
{
    return (uint32_t)(hash_number(key) >> (64 - CONTENDED_BITS));
}

/* Returns true if the thread must stamp the lock. [handler] */
static inline bool contended_is_stamped(const struct state_line *line, uint64_t key)
{
    uint16_t stamps = load_relaxed(&line->stamps);
    return stamps == STATE_STAMPS_ALL ||
           (stamps == STATE_STAMPS_SEEN && load_relaxed(&contended_seen[contended_slot(key)]));
}

/* Notes that a thread waits for the lock. [handler] */
void contended_note(uint64_t key);

/* Empties the slots of old ages, once per CONTENDED_AGE_NS. [handler] */
void contended_forget(uint64_t now_ns);

/* How often a thread takes locks: its number of acquisitions at an earlier sample. */
struct contended_pace {
    uint64_t since_ns;
    uint32_t acquisitions;
};

/* Chooses which locks the thread stamps until its next sample. [handler] */
void contended_choose(struct state_line *line, struct contended_pace *pace, uint64_t now_ns);

/* 1 once a thread has waited for a lock of POSIX threads. */
extern uint32_t contended_posix_waits;

/* Returns true for locks of POSIX threads. No state line names their holders, and they are never stamped. [handler] */
static inline bool contended_is_posix(uint64_t key)
{
    return PROFILE_LOCK_KEY_KIND(key) >= PROFILE_LOCK_MUTEX;
}

/* Sets the word that counts the locks of POSIX threads for which blame was left. Their releases read only this word.
 * [init] */
void contended_count_posix(uint32_t *word);

/* Counts a lock for which blame was left in the tables of directed.h. contended_blame_taken() takes it off
 * the count again. [handler] */
void contended_blame_left(uint64_t key);
void contended_blame_taken(uint64_t key);

/* Returns true if blame may be waiting for some holder of the lock. [handler] */
bool contended_has_blame(uint64_t key);

/* Forgets everything, in the child of a fork. [init] */
void contended_reset(void);

#endif
