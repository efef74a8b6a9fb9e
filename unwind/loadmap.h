/* Knows which code is loaded at which addresses. First, the dynamic loader is asked (unwind/linked.h). Code
 * that the loader does not know, mainly code compiled at run time, is found by reading /proc/self/maps from
 * time to time. Neither takes the loader's locks, so both work in a handler.
 *
 * Once a range can be found, it never changes and is never unmapped (guarantee L1: readers need no lock).
 * However, another library may since have been loaded at its addresses; loadmap_is_true() checks this. */
#ifndef BLAME_UNWIND_LOADMAP_H
#define BLAME_UNWIND_LOADMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "unwind/linked.h"
#include "unwind/modules.h"

/* An executable mapping at [start, end). */
struct loadmap_range {
    uintptr_t start, end;
    uintptr_t load_bias;
    uint32_t module_id; /* number of the module; 0: executable memory that is not mapped from a file */
    uint32_t permanent; /* 1: this code can never be replaced */
    struct linked_name name;
};

/* Reads the map for the first time. [init] */
bool loadmap_init(void);

/* Reads the whole map again. Does nothing if another thread is reading it. Returns true if the map may have
 * changed. [init] */
bool loadmap_refresh(void);

/* Does the same, unless it is certain that nothing was loaded since, and no walk met an unknown address. [init] */
bool loadmap_refresh_at_end(void);

/* Reads a part of the map, because a walk met an unknown address: either a library has been loaded in the
 * meantime, or the address is wrong because of a broken frame. The work of one call is bounded. With hundreds
 * of libraries, one reading takes several calls, so it does not show the map at one instant. All calls
 * together take at most 1 % of the time. Returns true if a reading is complete and the map may have changed.
 * [handler] */
bool loadmap_refresh_sometimes(void);

/* Calls loadmap_refresh_sometimes() about once per second, and more often while a reading is unfinished. This
 * finds libraries that have replaced others even if no address is unknown. [handler] */
void loadmap_refresh_by_time(void);

/* Called in a forked child: abandons a reading that was in progress when the parent called fork(). [init] */
void loadmap_forked(void);

/* To be read by loadmap_generation() only. */
extern uint32_t loadmap_generations __attribute__((visibility("hidden")));

/* Returns a number that rises when code has been removed or replaced. Cached data about code addresses is
 * then invalid. Loading a library at new addresses does not raise it. [handler] */
static inline uint32_t loadmap_generation(void)
{
    return load_acquire(&loadmap_generations);
}

/* Returns the executable range that contains the address; NULL if none is known. [handler] */
const struct loadmap_range *loadmap_find(uintptr_t address);

/* Like loadmap_find(), but reads the headers of a new module if necessary, which takes about 20 us. [handler] */
const struct loadmap_range *loadmap_learn(uintptr_t address);

/* Returns false if the range's code has been replaced. Makes a system call unless the range is permanent.
 * [handler] */
bool loadmap_is_true(const struct loadmap_range *range);

/* Like loadmap_is_true(), for code to which the calling thread will return. Such code cannot be unloaded, so
 * usually no system call is needed. [handler] */
bool loadmap_is_callers(const struct loadmap_range *range);

/* Sets these flags (base/module_flags.h) for the module that contains the address. [init] */
void loadmap_flag(uintptr_t address, uint32_t flags);

/* Returns the end of the mapping that contains the address; 0 if there is none. For an address on a stack,
 * this is the upper end of the stack. [owner] */
uintptr_t loadmap_mapping_end(uintptr_t address);

#endif
