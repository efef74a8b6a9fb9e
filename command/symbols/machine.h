/* The differences between processor architectures. The file of the measured module selects the architecture,
 * which may differ from that of the machine on which blame runs. */
#ifndef BLAME_COMMAND_SYMBOLS_MACHINE_H
#define BLAME_COMMAND_SYMBOLS_MACHINE_H

#include <gelf.h>

#include "command/symbols/decode.h"

/* A piece of machine code that is searched for calls, and the range in which the calls' targets or slots must
 * lie. */
struct symbols_code {
    const uint8_t *bytes;
    size_t size;
    uint64_t vaddr;     /* address of the first byte */
    uint64_t low, high; /* lowest and highest address of a target or slot */
};

struct symbols_machine {
    unsigned elf; /* EM_* constant */
    bool (*decode)(const uint8_t *code, size_t room, uint64_t vaddr, struct symbols_instruction *result);
    /* Returns the address of the slot through which a stub in the procedure linkage table jumps, or 0 if the
     * code is not such a stub. */
    uint64_t (*stub_slot)(const uint8_t *code, size_t room, uint64_t vaddr);
    /* Returns the offset of the next call or jump whose target or slot is between low and high, starting at
     * offset `from`. Returns the code's size if there is none. It only compares bytes, so it is fast, but it
     * may find a "call" inside another instruction. */
    size_t (*next_site)(const struct symbols_code *code, size_t from, uint64_t *target);
    unsigned registers;
    uint32_t preserved; /* bit mask of the registers that a called function must preserve */
    int8_t argument[6]; /* numbers of the registers that hold the first six arguments */
    /* length of a direct call, and of a call through a slot, in bytes; 0: the architecture has no such call */
    uint8_t call_bytes[2];
    uint32_t slot_types[2]; /* types of the relocations that fill slots: R_*_JUMP_SLOT, R_*_GLOB_DAT */
};

/* Returns the architecture of the file, or NULL if it is unknown. */
const struct symbols_machine *symbols_machine_of(Elf *elf);

#endif
