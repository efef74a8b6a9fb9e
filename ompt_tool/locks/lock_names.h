/* Which call initialised a lock. Reports use this as the name of a lock that has no variable of its own.
 *
 * The addresses of locks are in hash tables with open addressing, in the tool's own mappings. When a table is
 * full, a larger one is added. An entry is one word, with the lock's address and the number of the
 * initialising call, so it is always read and written as a whole. The entry of a destroyed lock is reused.
 * There is room for 17 MiB of entries and 4,095 calls; the file's header counts locks that found no room.
 * Guarantee N1: only the thread that initialises or destroys a lock writes to its entry. OpenMP forbids two
 * threads to do so for one lock at the same time.
 *
 * A program may have millions of locks in an array. After the first locks of such an array, a thread writes
 * only the array's current end (struct lock_row), which costs a few instructions for each lock. */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

/* An array of locks that one call initialised in order. Only the thread that initialises the array writes to
 * the row. */
struct lock_row {
    uint64_t order; /* number of rows that were begun before, plus 1; 0: the row is being written */
    uint64_t first; /* address of the first lock that is only in this row */
    uint64_t end;   /* address after the last lock */
    uint64_t distance;
    uint64_t call; /* the initialising call, as a PROFILE_KEY */
};

/* The locks that a thread initialised last. */
struct lock_streak {
    uint64_t next;        /* address of the next lock, if the thread continues with an array; 0: unknown */
    uint64_t distance;    /* bytes between two locks; 0: unknown */
    uintptr_t codeptr;    /* return address of the initialising call */
    uint32_t length;      /* number of locks at this distance so far, until the array has a row */
    struct lock_row *row; /* the array's row; NULL: it has none */
};

/* Notes the lock in the row of its array. Returns false and notes nothing if it is not the next lock of an
 * array that has a row. [owner] */
static inline bool lock_streak_continues(struct lock_streak *streak, uint64_t address, uintptr_t codeptr)
{
    if (!streak->row || address != streak->next || codeptr != streak->codeptr)
        return false;
    streak->next += streak->distance;
    store_release(&streak->row->end, streak->next);
    return true;
}

/* Returns true if the thread has just initialised this lock as part of an array that has a row. [owner] */
static inline bool lock_streak_has(const struct lock_streak *streak, uint64_t address)
{
    return streak->row && address - streak->row->first < streak->next - streak->row->first;
}

/* Notes a lock for which lock_streak_continues() returned false, after lock_names_initialised(). [owner] */
void lock_streak_add(struct lock_streak *streak, uint64_t address, uintptr_t codeptr, uint64_t call);

/* Notes which call initialised the lock at this address. The call is a PROFILE_KEY; 0: unknown. [any] */
void lock_names_initialised(uint64_t address, uint64_t call);
void lock_names_destroyed(uint64_t address); /* [any] */

/* Returns the call that initialised the lock, as a PROFILE_KEY; 0 if unknown. [handler] */
uint64_t lock_names_initialiser(uint64_t address);

#endif
