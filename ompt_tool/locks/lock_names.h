/* Who initialised which lock: what a lock without a variable of its own is named after.
 *
 * A table of lock addresses in our own mappings, open addressing, a larger one behind each that has no room.
 * An entry is one word (the lock's address and the number of the initialising call), so that it is written
 * and read whole; a destroyed lock's place is used again. Bounded: 17 MiB and 4,095 calls at most; locks
 * beyond that are counted in the file's header. Guarantee N1: a lock's entry is written by whoever
 * initialises or destroys it, and two threads never do that to one lock at once (OpenMP's own rule). */
#ifndef BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H
#define BLAME_OMPT_TOOL_LOCKS_LOCK_NAMES_H

#include <stdint.h>

/* The lock at that address is initialised by that call, a PROFILE_KEY (0: not known). [any] */
void lock_names_initialised(uint64_t address, uint64_t call);
void lock_names_destroyed(uint64_t address); /* [any] */

/* The call that initialised the lock; 0 when none is known. [handler] */
uint64_t lock_names_initialiser(uint64_t address);

#endif
