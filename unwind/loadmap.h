/* What code is loaded where, read from /proc/self/maps: without the loader's lock, so also in a handler.
 *
 * A module keeps its number for the whole run, also when it is unloaded and loaded again elsewhere; keys of
 * samples are (module, link-time address) and stay true. Each snapshot is immutable and never unmapped
 * (guarantee L1: a reader needs no lock). The bytes that unwinding needs of a module are mapped from its file
 * a second time, so that dlclose() cannot take them away under a handler (guarantee L2). */
#ifndef BLAME_UNWIND_LOADMAP_H
#define BLAME_UNWIND_LOADMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOADMAP_MAX_MODULES 4096u

struct loadmap_module {
    uint64_t device, inode;
    uintptr_t load_bias; /* when last seen */
    uintptr_t vaddr_low, vaddr_high;
    uintptr_t first_vaddr;     /* link-time address of the file's first byte */
    uintptr_t eh_frame_header; /* link-time address, 0 if there is none */
    uintptr_t eh_frame_header_bytes;
    uintptr_t view_vaddr; /* link-time range of the segment with the unwind tables ... */
    uintptr_t view_bytes;
    const char *view; /* ... and its bytes: the second mapping */
    uint32_t flags;   /* enum profile_module_flag */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    const char *path;
};

/* Executable mapping [start, end). */
struct loadmap_range {
    uintptr_t start, end;
    uintptr_t load_bias;
    uint32_t module_id; /* 1 + index; 0: executable memory that is no file's */
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

/* Counts the changes of the map. [handler] */
uint32_t loadmap_generation(void);

/* The executable range that holds the address, NULL if none does as far as is known. [handler] */
const struct loadmap_range *loadmap_find(uintptr_t address);

/* The module with that number, or NULL. [handler] */
const struct loadmap_module *loadmap_module(uint32_t module_id);
uint32_t loadmap_module_count(void); /* [handler] */

/* Adds flags to the module that holds the address. [init] */
void loadmap_flag(uintptr_t address, uint32_t flags);

/* End of the mapping that holds the address, 0 if none does: a stack's upper bound. [owner] */
uintptr_t loadmap_mapping_end(uintptr_t address);

#endif
