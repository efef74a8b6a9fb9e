/* Differences between processor architectures. The measured module's file decides which one applies, not the
 * machine on which this program runs. */
#ifndef BLAME_COMMAND_SYMBOLS_MACHINE_H
#define BLAME_COMMAND_SYMBOLS_MACHINE_H

#include <gelf.h>

#include "command/symbols/decode.h"

/* Machine code that is searched for calls, and the addresses between which their targets or slots lie. */
struct symbols_code {
    const uint8_t *bytes;
    size_t size;
    uint64_t vaddr;     /* address of the first byte */
    uint64_t low, high; /* lowest and highest address of a target or slot */
};

struct symbols_machine {
    unsigned elf; /* EM_* constant */
    bool (*decode)(const uint8_t *code, size_t room, uint64_t vaddr, struct symbols_instruction *result);
    /* Returns the address of the slot through which a stub in the procedure linkage table jumps; 0 if the
     * code is not such a stub. */
    uint64_t (*stub_slot)(const uint8_t *code, size_t room, uint64_t vaddr);
    /* Returns the offset of the first call or jump, at or after offset `from`, whose target or slot is
     * between low and high; the code's size if there is none. This is fast, because it only compares bytes. It
     * may take bytes inside another instruction for a call. */
    size_t (*next_site)(const struct symbols_code *code, size_t from, uint64_t *target);
    unsigned registers;
    uint32_t preserved; /* bit mask of registers that calls preserve */
    int8_t argument[6]; /* registers of the first six arguments */
    /* length in bytes of a direct call, and of a call through a slot; 0: the architecture has no such call */
    uint8_t call_bytes[2];
    uint32_t slot_types[2]; /* relocation types of slots: R_*_JUMP_SLOT, R_*_GLOB_DAT */
};

/* Returns NULL if the architecture is unknown. */
const struct symbols_machine *symbols_machine_of(Elf *elf);

#endif
