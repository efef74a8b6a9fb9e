/* .debug_frame is call frame information for debuggers. It also covers functions that throw no exceptions,
 * which .eh_frame may omit (flang and clang with -g; C with -g and without unwind tables). It is not loaded
 * with the program and has no search table. So we copy it from the file and index it once, when a walk first
 * meets the module. The copy never changes. */
#ifndef BLAME_UNWIND_DEBUG_FRAME_H
#define BLAME_UNWIND_DEBUG_FRAME_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* An entry, which describes one function. */
struct debug_frame_entry {
    uintptr_t start; /* link-time address of the function */
    uintptr_t at;    /* position of the entry in the section, in bytes */
};

/* The section's bytes, and its entries in the order of `start`; if count is 0, there are none. */
struct debug_frame {
    const unsigned char *bytes;
    size_t size;
    const struct debug_frame_entry *entries;
    size_t count;
};

#define DEBUG_FRAME_HEADERS 64u

/* What is read of a file to find the section: too large for a small stack. The contents before are of no matter. */
struct debug_frame_room {
    Elf64_Shdr headers[DEBUG_FRAME_HEADERS]; /* of the sections from number `first` on */
    uint32_t first;
    char names[512]; /* the beginning of the sections' names: enough for most files, so that they are read once */
    size_t names_bytes;
    uint64_t names_at; /* offset in the file */
};

/* Reads .debug_frame from an ELF file. The result is empty if there is no such section, if it is compressed,
 * or if it has more than `most` bytes. Functions outside [low, high) are omitted, because the linker has
 * dropped them. [handler] */
struct debug_frame debug_frame_read(int fd, const Elf64_Ehdr *elf, uintptr_t low, uintptr_t high, size_t most,
                                    struct debug_frame_room *room);

/* Returns the index of a section. The bytes must stay in memory. [handler] */
struct debug_frame debug_frame_index(const void *bytes, size_t size, uintptr_t low, uintptr_t high);

/* Returns the last entry that starts at or before the address; NULL if there is none. [handler] */
const struct debug_frame_entry *debug_frame_find(const struct debug_frame *frame, uintptr_t address);

#endif
