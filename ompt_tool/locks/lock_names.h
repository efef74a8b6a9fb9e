/* Which call initialised a lock. Reports use this as the name of a lock that has no variable of its own.
 *
 * The addresses of locks are in hash tables with open addressing, in the tool's own mappings. When a table is
 * full, a larger one is added. An entry is one word, with the lock's address and the number of the
 * initialising call, so it is always read and written as a whole. The entry of a destroyed lock is reused.
 * There is room for 17 MiB of entries and 4,095 calls; the file's header counts locks that found no room.
 * Guarantee N1: only the thread that initialises or destroys a lock writes to its entry. OpenMP forbids two
 * threads to do so for one lock at the same time. */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H

#include <stdint.h>

/* Notes which call initialised the lock at this address. The call is a PROFILE_KEY; 0: unknown. [any] */
void lock_names_initialised(uint64_t address, uint64_t call);
void lock_names_destroyed(uint64_t address); /* [any] */

/* Returns the call that initialised the lock, as a PROFILE_KEY; 0 if unknown. [handler] */
uint64_t lock_names_initialiser(uint64_t address);

#endif
