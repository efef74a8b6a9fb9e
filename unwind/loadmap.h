/* What code is loaded where. The dynamic loader is asked first (unwind/linked.h): by address, at any moment.
 * What it does not know, code compiled at run time above all, is read from /proc/self/maps, now and then. Both
 * without the loader's locks, so also in a handler.
 *
 * Ranges are immutable once they can be found, and never unmapped (guarantee L1: a reader needs no lock).
 * Another library may have taken a range's place since: loadmap_is_true() tells. */
#ifndef BLAME_UNWIND_LOADMAP_H
#define BLAME_UNWIND_LOADMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "unwind/linked.h"
#include "unwind/modules.h"

/* Executable mapping [start, end). */
struct loadmap_range {
    uintptr_t start, end;
    uintptr_t load_bias;
    uint32_t module_id; /* 0: executable memory that is no file's */
    uint32_t permanent; /* 1: nothing can take its place */
    struct linked_name name;
};

/* Reads the map for the first time. [init] */
bool loadmap_init(void);

/* Reads it again, all at once; does nothing when another thread is reading it. True if the map may have
 * changed. [init] */
bool loadmap_refresh(void);

/* Reads a part of it again because a walk met an unknown address: a library loaded since, or nonsense from a
 * broken frame. What one call reads is bounded, whatever is loaded; with hundreds of libraries a reading
 * takes several calls, and is of no single moment. All calls together take at most 1 % of the time. True if a
 * reading has ended and the map may have changed. [handler] */
bool loadmap_refresh_sometimes(void);

/* The same once in a second or so, and until a reading has ended: a library may have taken another's place,
 * which no unknown address shows. [handler] */
void loadmap_refresh_by_time(void);

/* In a forked child: a reading that was under way is the parent's. [init] */
void loadmap_forked(void);

/* loadmap_generation()'s alone. */
extern uint32_t loadmap_generations __attribute__((visibility("hidden")));

/* Counts what has gone, or has been replaced: what was learnt of addresses is no longer true. A library that
 * came changes nothing. [handler] */
static inline uint32_t loadmap_generation(void)
{
    return load_acquire(&loadmap_generations);
}

/* The executable range that holds the address at this moment, NULL if none does as far as is known. [handler] */
const struct loadmap_range *loadmap_find(uintptr_t address);

/* The same; a module that is new is read, in some 20 us. [handler] */
const struct loadmap_range *loadmap_learn(uintptr_t address);

/* False if something else is there by now. A system call, unless the range is permanent. [handler] */
bool loadmap_is_true(const struct loadmap_range *range);

/* The same of code that the calling thread is going to return to: nobody may unload that, so it takes no system
 * call. [handler] */
bool loadmap_is_callers(const struct loadmap_range *range);

/* Adds flags to the module that holds the address. [init] */
void loadmap_flag(uintptr_t address, uint32_t flags);

/* End of the mapping that holds the address, 0 if none does: a stack's upper bound. [owner] */
uintptr_t loadmap_mapping_end(uintptr_t address);

#endif
