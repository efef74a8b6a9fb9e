/* What the dynamic loader knows, without its locks. Since version 2.35 glibc offers a search by address that
 * takes none, also while a library is being loaded or unloaded, on this thread or another one
 * (_dl_find_object; the manual says: AS-Safe). With an older one nothing is found here. */
#ifndef BLAME_UNWIND_LOADER_H
#define BLAME_UNWIND_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOADER_MAX_BYTES 1024u /* that loader_has() compares */

struct loader_object {
    uintptr_t start;    /* where its first byte is mapped */
    uintptr_t link_map; /* address of the loader's record, which goes with the object */
};

/* Finds out what stays as long as the process: what the program was started with. [init] */
void loader_init(void);

/* The object whose mappings hold the address; false if none does. [handler] */
bool loader_find(uintptr_t address, struct loader_object *object);

/* An object's name, the path as it was asked for, as far as telling names apart needs it. */
struct loader_name {
    uintptr_t address; /* of the loader's string; 0: not known */
    uint64_t hash;     /* of `bytes` bytes: with the 0 at its end, unless it is very long */
    uint32_t bytes;
};

/* All 0 when the object has gone. [handler] */
void loader_read_name(const struct loader_object *object, struct loader_name *name);

/* True if an object with that name holds the address, and the memory at `from` has the bytes of `expected`; in
 * one system call. [handler] */
bool loader_has(uintptr_t address, const struct loader_name *name, uintptr_t from, const void *expected,
                size_t bytes);

/* The same for an object that nobody may unload meanwhile, and bytes of its first page; in none.
 * [handler] */
bool loader_has_callers(uintptr_t address, const struct loader_name *name, uintptr_t from, const void *expected,
                        size_t bytes);

/* True if nothing can ever unload what is mapped from there on. [handler] */
bool loader_is_permanent(uintptr_t start);

#endif
