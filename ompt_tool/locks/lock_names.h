/* Which call initialised which lock: the name of a lock without a variable of its own.
 *
 * A table of lock addresses in the tool's own mappings, with open addressing, and a larger table after each
 * full one. An entry is one word (the lock's address and the number of the initialising call): it is written
 * and read whole. A destroyed lock's entry is used again. Bounds: 17 MiB and 4,095 calls; the file's header
 * counts locks beyond them. Guarantee N1: a lock's entry is written by the thread that initialises or
 * destroys the lock, and two threads never do that to one lock at once (OpenMP's own rule). */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H

#include <stdint.h>

/* Notes that the lock at that address was initialised by that call, a PROFILE_KEY (0: unknown). [any] */
void lock_names_initialised(uint64_t address, uint64_t call);
void lock_names_destroyed(uint64_t address); /* [any] */

/* Returns the call that initialised the lock; 0 if unknown. [handler] */
uint64_t lock_names_initialiser(uint64_t address);

#endif
