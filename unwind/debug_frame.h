/* .debug_frame: call frame information for debuggers, where .eh_frame has none: functions that no exception leaves
 * (flang and clang with -g; C with -g and without unwind tables). It is not loaded into memory, and has no search
 * table: it is copied from the file and indexed once, when its module is met first; what was read never changes. */
#ifndef BLAME_UNWIND_DEBUG_FRAME_H
#define BLAME_UNWIND_DEBUG_FRAME_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* An entry for a function. */
struct debug_frame_entry {
    uintptr_t start; /* link-time address of its code */
    uintptr_t at;    /* offset of its bytes in the section */
};

/* In the order of `start`; count == 0: there is none. */
struct debug_frame {
    const unsigned char *bytes;
    size_t size;
    const struct debug_frame_entry *entries;
    size_t count;
};

/* The section of an ELF file, nothing if it has none, if it is compressed or has more than `most` bytes. Functions
 * outside [low, high) are left out: what the linker has dropped. [handler] */
struct debug_frame debug_frame_read(int fd, const Elf64_Ehdr *elf, uintptr_t low, uintptr_t high, size_t most);

/* The same of a section's bytes, which must stay. [handler] */
struct debug_frame debug_frame_index(const void *bytes, size_t size, uintptr_t low, uintptr_t high);

/* The last entry that starts at the address or before; NULL if none does. [handler] */
const struct debug_frame_entry *debug_frame_find(const struct debug_frame *frame, uintptr_t address);

#endif
