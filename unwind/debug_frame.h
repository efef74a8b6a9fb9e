/* .debug_frame is call frame information for debuggers. It covers functions that no exception leaves, which
 * .eh_frame may omit (flang and clang with -g; C with -g and without unwind tables). It is not loaded into
 * memory and has no search table. So it is copied from the file and indexed once, at the first frame in the
 * module; the copy never changes. */
#ifndef BLAME_UNWIND_DEBUG_FRAME_H
#define BLAME_UNWIND_DEBUG_FRAME_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* The entry of a function. */
struct debug_frame_entry {
    uintptr_t start; /* link-time address of its code */
    uintptr_t at;    /* offset of its bytes in the section */
};

/* Entries are in the order of `start`; count 0: there are none. */
struct debug_frame {
    const unsigned char *bytes;
    size_t size;
    const struct debug_frame_entry *entries;
    size_t count;
};

/* Reads the section of an ELF file. The result is empty if there is no section, if it is compressed, or if it
 * has more than `most` bytes. Functions outside [low, high) are left out: the linker has dropped them.
 * [handler] */
struct debug_frame debug_frame_read(int fd, const Elf64_Ehdr *elf, uintptr_t low, uintptr_t high, size_t most);

/* Indexes a section's bytes, which must stay in memory. [handler] */
struct debug_frame debug_frame_index(const void *bytes, size_t size, uintptr_t low, uintptr_t high);

/* Returns the last entry that starts at or before the address; NULL if there is none. [handler] */
const struct debug_frame_entry *debug_frame_find(const struct debug_frame *frame, uintptr_t address);

#endif
