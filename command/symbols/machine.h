/* What differs between processor architectures. The measured module decides which one applies, not this
 * program. */
#ifndef BLAME_COMMAND_SYMBOLS_MACHINE_H
#define BLAME_COMMAND_SYMBOLS_MACHINE_H

#include <gelf.h>

#include "command/symbols/decode.h"

struct symbols_machine {
    unsigned elf; /* EM_* */
    bool (*decode)(const uint8_t *code, size_t room, uint64_t vaddr, struct symbols_instruction *result);
    /* Returns the slot that a stub in the procedure linkage table jumps through; 0 if the code is no such
     * stub. */
    uint64_t (*stub_slot)(const uint8_t *code, size_t room, uint64_t vaddr);
    /* Returns the offset of the first call or jump, from offset `from` on, whose target or slot lies between
     * low and high; `size` if there is none. Fast, because it only compares bytes; it may mistake bytes
     * inside another instruction for a call. */
    size_t (*next_site)(const uint8_t *code, size_t size, size_t from, uint64_t vaddr, uint64_t low, uint64_t high,
                        uint64_t *target);
    unsigned registers;
    uint32_t preserved;     /* by calls */
    int8_t argument[6];     /* registers of the first arguments */
    uint8_t call_bytes[2];  /* length of a direct call, and of a call through a slot; 0: does not exist */
    uint32_t slot_types[2]; /* types of relocations of slots: R_*_JUMP_SLOT, R_*_GLOB_DAT */
};

/* Returns NULL for an unknown architecture. */
const struct symbols_machine *symbols_machine_of(Elf *elf);

#endif
