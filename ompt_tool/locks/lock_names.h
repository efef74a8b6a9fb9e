/* Which call initialised a lock. This names a lock that has no variable of its own.
 *
 * The locks' addresses are in hash tables with open addressing, in the tool's own mappings. When a table is
 * full, a larger one is added. An entry is one word, with the lock's address and the number of the
 * initialising call, so it is read and written whole. The entry of a destroyed lock is used again. There is
 * room for 17 MiB of entries and 4,095 calls; the file's header counts what found no room. Guarantee N1: only
 * the thread that initialises or destroys a lock writes its entry. OpenMP forbids that two threads do so for
 * one lock at the same time. */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H

#include <stdint.h>

/* Notes which call initialised the lock at that address. The call is a PROFILE_KEY, 0 if unknown. [any] */
void lock_names_initialised(uint64_t address, uint64_t call);
void lock_names_destroyed(uint64_t address); /* [any] */

/* Returns the call that initialised the lock; 0 if unknown. [handler] */
uint64_t lock_names_initialiser(uint64_t address);

#endif
