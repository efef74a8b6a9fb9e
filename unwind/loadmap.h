/* Knows which code is loaded where. It first asks the dynamic loader by address (unwind/linked.h), at any
 * time. What the loader does not know, above all code compiled at run time, it reads now and then from
 * /proc/self/maps. Neither takes the loader's locks, so both work in a handler.
 *
 * A range never changes once it can be found, and is never unmapped (guarantee L1: readers need no lock).
 * Another library may have replaced the range's code since; loadmap_is_true() checks this. */
#ifndef BLAME_UNWIND_LOADMAP_H
#define BLAME_UNWIND_LOADMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "unwind/linked.h"
#include "unwind/modules.h"

/* An executable mapping [start, end). */
struct loadmap_range {
    uintptr_t start, end;
    uintptr_t load_bias;
    uint32_t module_id; /* 0: executable memory without a file */
    uint32_t permanent; /* 1: its code can never be replaced */
    struct linked_name name;
};

/* Reads the map for the first time. [init] */
bool loadmap_init(void);

/* Reads the map again, completely. Does nothing while another thread is reading it. Returns true if the map
 * may have changed. [init] */
bool loadmap_refresh(void);

/* Reads a part of the map again, because a walk met an unknown address: a library loaded since, or nonsense
 * from a broken frame. The work of one call is bounded. With hundreds of libraries one reading takes several
 * calls and does not show the map at one instant. All calls together take at most 1 % of the time. Returns
 * true if a reading has ended and the map may have changed. [handler] */
bool loadmap_refresh_sometimes(void);

/* Does the same about once per second, and until a reading has ended. It finds libraries that have replaced
 * others without any unknown address. [handler] */
void loadmap_refresh_by_time(void);

/* Drops a reading that was in progress in the parent, in a forked child. [init] */
void loadmap_forked(void);

/* Only for loadmap_generation(). */
extern uint32_t loadmap_generations __attribute__((visibility("hidden")));

/* Returns a count that rises when code is removed or replaced; what was known about addresses is then
 * invalid. A new library does not raise it. [handler] */
static inline uint32_t loadmap_generation(void)
{
    return load_acquire(&loadmap_generations);
}

/* Returns the executable range that contains the address now; NULL if none is known. [handler] */
const struct loadmap_range *loadmap_find(uintptr_t address);

/* Returns the range like loadmap_find(), and reads a new module if necessary, in some 20 us. [handler] */
const struct loadmap_range *loadmap_learn(uintptr_t address);

/* Returns false if the range's code has been replaced. Makes a system call, unless the range is permanent.
 * [handler] */
bool loadmap_is_true(const struct loadmap_range *range);

/* Does the same for code to which the calling thread will return. Such code cannot be unloaded, so it makes
 * no system call. [handler] */
bool loadmap_is_callers(const struct loadmap_range *range);

/* Adds flags to the module that contains the address. [init] */
void loadmap_flag(uintptr_t address, uint32_t flags);

/* Returns the end of the mapping that contains the address, which is a stack's upper bound; 0 if there is
 * none. [owner] */
uintptr_t loadmap_mapping_end(uintptr_t address);

#endif
