/* Asks the dynamic loader without its locks. Since version 2.35 glibc has a search by address that takes
 * none, even while this or another thread loads or unloads a library (_dl_find_object, AS-Safe according to
 * the manual). With an older glibc nothing is found here. */
#ifndef BLAME_UNWIND_LINKED_H
#define BLAME_UNWIND_LINKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINKED_MAX_BYTES 1024u /* maximum for linked_has() */

struct linked_object {
    uintptr_t start;    /* address of its first byte */
    uintptr_t link_map; /* address of the loader's record, which is freed with the object */
};

/* Finds out which objects stay as long as the process: those with which the program started. [init] */
void linked_init(void);

/* Finds the object whose mappings contain the address. Returns false if there is none. [handler] */
bool linked_find(uintptr_t address, struct linked_object *object);

/* What distinguishes an object's name, the path as it was requested, from other names. */
struct linked_name {
    uintptr_t address; /* address of the loader's string; 0: unknown */
    uint64_t hash;     /* hash of `bytes` bytes, including the final 0 unless the name is very long */
    uint32_t bytes;
    uint32_t reserved; /* 0, since maps are compared byte by byte */
};

/* Reads the object's name; all 0 if the object is gone. [handler] */
void linked_read_name(const struct linked_object *object, struct linked_name *name);

/* Returns true if an object with that name contains the address, and the memory at `from` equals `expected`.
 * Makes one system call. [handler] */
bool linked_has(uintptr_t address, const struct linked_name *name, uintptr_t from, const void *expected, size_t bytes);

/* Does the same for an object that cannot be unloaded meanwhile, and bytes in its first page. Makes no system
 * call. [handler] */
bool linked_has_callers(uintptr_t address, const struct linked_name *name, uintptr_t from, const void *expected,
                        size_t bytes);

/* Returns true if the object mapped at that address can never be unloaded. [handler] */
bool linked_is_permanent(uintptr_t start);

#endif
