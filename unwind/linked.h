/* Asks the dynamic loader which object contains an address, without taking the loader's locks. Since version
 * 2.35, glibc has a function for this (_dl_find_object, AS-Safe according to the manual). It works even while
 * a thread loads or unloads a library. With an older glibc, nothing is found. */
#ifndef BLAME_UNWIND_LINKED_H
#define BLAME_UNWIND_LINKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINKED_MAX_BYTES 1024u /* maximum number of bytes that linked_has() compares */

struct linked_object {
    uintptr_t start; /* address of the object's first byte */
    /* address of the loader's record (struct link_map), which is freed when the object is unloaded */
    uintptr_t link_map;
};

/* Finds the objects that are never unloaded because they were loaded when the program started. Only the first call
 * does. [init] */
void linked_init(void);

/* Finds the loaded object that contains the address. Returns false if there is none. [handler] */
bool linked_find(uintptr_t address, struct linked_object *object);

/* Identifies the name of an object, which is the path under which the object was opened. */
struct linked_name {
    uintptr_t address; /* address of the string in the loader's record; 0: unknown */
    /* hash of the first `bytes` bytes, including the final 0 unless the name is longer than that */
    uint64_t hash;
    uint32_t bytes;
    uint32_t reserved; /* always 0, because ranges (which contain this structure) are compared byte by byte */
};

/* Reads the object's name. If the object is gone, all fields are 0. [handler] */
void linked_read_name(const struct linked_object *object, struct linked_name *name);

/* Returns the address of the name of an object that is never unloaded. [handler] */
uintptr_t linked_name_of_permanent(const struct linked_object *object);

/* Returns true if the address is in an object with this name, and the memory at `from` equals `expected`.
 * Makes one system call and cannot fault. [handler] */
bool linked_has(uintptr_t address, const struct linked_name *name, uintptr_t from, const void *expected, size_t bytes);

/* Like linked_has(), but without a system call if `from` is in the object's first page. The object must not
 * be unloaded during the call. [handler] */
bool linked_has_callers(uintptr_t address, const struct linked_name *name, uintptr_t from, const void *expected,
                        size_t bytes);

/* Returns true if the object that starts at this address can never be unloaded. [handler] */
bool linked_is_permanent(uintptr_t start);

#endif
