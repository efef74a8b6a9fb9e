/* What the dynamic loader knows, without its locks. Since version 2.35 glibc offers a search by address that
 * takes none, also while a library is being loaded or unloaded, on this thread or another one
 * (_dl_find_object; the manual says: AS-Safe). With an older one nothing is found here. */
#ifndef BLAME_UNWIND_LINKED_H
#define BLAME_UNWIND_LINKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINKED_MAX_BYTES 1024u /* that linked_has() compares */

struct linked_object {
    uintptr_t start;    /* where its first byte is mapped */
    uintptr_t link_map; /* address of the loader's record, which goes with the object */
};

/* Finds out what stays as long as the process: what the program was started with. [init] */
void linked_init(void);

/* The object whose mappings hold the address; false if none does. [handler] */
bool linked_find(uintptr_t address, struct linked_object *object);

/* An object's name, the path as it was asked for, as far as telling names apart needs it. */
struct linked_name {
    uintptr_t address; /* of the loader's string; 0: not known */
    uint64_t hash;     /* of `bytes` bytes: with the 0 at its end, unless it is very long */
    uint32_t bytes;
    uint32_t reserved; /* 0: maps are compared byte by byte */
};

/* All 0 when the object has gone. [handler] */
void linked_read_name(const struct linked_object *object, struct linked_name *name);

/* True if an object with that name holds the address, and the memory at `from` has the bytes of `expected`; in
 * one system call. [handler] */
bool linked_has(uintptr_t address, const struct linked_name *name, uintptr_t from, const void *expected, size_t bytes);

/* The same for an object that nobody may unload meanwhile, and bytes of its first page; in none.
 * [handler] */
bool linked_has_callers(uintptr_t address, const struct linked_name *name, uintptr_t from, const void *expected,
                        size_t bytes);

/* True if nothing can ever unload what is mapped from there on. [handler] */
bool linked_is_permanent(uintptr_t start);

#endif
