/* Which locks are stamped: read the clock when they are asked for, acquired and released, so that a waiter's
 * sample finds who held them when it was due (docs/accounting.md, "Which locks are stamped").
 *
 * All, by a thread that takes few. Else those that a sample has seen somebody wait for, lately: a table of
 * bytes over hashed locks. Only handlers write it. Guarantee B2: as long as blame waits for a holder of the
 * lock (directed.h), no thread's line says STATE_STAMPS_NONE, and the lock's byte is not 0. */
#ifndef BLAME_BLAME_CONTENDED_H
#define BLAME_BLAME_CONTENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/hash.h"
#include "blame/state.h"

#define CONTENDED_BITS  10
#define CONTENDED_SLOTS (1u << CONTENDED_BITS)

/* A lock that nobody was seen waiting for during this time, or twice it, is forgotten. */
#define CONTENDED_AGE_NS 1000000000ull

/* Who takes locks less often than once in this time stamps all: some 30 ns each. */
#define CONTENDED_RARE_NS 4000u
#define CONTENDED_PACE_NS 50000u /* samples closer together say nothing of how often it takes locks */

extern uint8_t contended_seen[CONTENDED_SLOTS]; /* 0, or the number of the age in which it was last */

static inline uint32_t contended_slot(uint64_t key) /* [handler] */
{
    return (uint32_t)(hash_number(key) >> (64 - CONTENDED_BITS));
}

/* True if the thread is to stamp the lock. [handler] */
static inline bool contended_is_stamped(const struct state_line *line, uint64_t key)
{
    uint16_t stamps = load_relaxed(&line->stamps);
    return stamps == STATE_STAMPS_ALL ||
           (stamps == STATE_STAMPS_SEEN && load_relaxed(&contended_seen[contended_slot(key)]));
}

/* Somebody waits for the lock. [handler] */
void contended_note(uint64_t key);

/* Forgets what is old, once each CONTENDED_AGE_NS. [handler] */
void contended_forget(uint64_t now_ns);

/* How fast a thread takes locks, from one sample to another. */
struct contended_pace {
    uint64_t since_ns;
    uint32_t acquisitions;
};

/* What the thread stamps until its next sample. [handler] */
void contended_choose(struct state_line *line, struct contended_pace *pace, uint64_t now_ns);

/* Blame was left where there was none for a holder of the lock, or taken. [handler] */
void contended_blame_left(uint64_t key);
void contended_blame_taken(uint64_t key);

/* True if blame may wait for a holder of the lock. [handler] */
bool contended_has_blame(uint64_t key);

/* Forgets everything: the child of a fork. [init] */
void contended_reset(void);

#endif
