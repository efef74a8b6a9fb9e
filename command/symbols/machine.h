/* What differs between the machines that programs are compiled for: of a module, whatever this program itself was compiled for. */
#ifndef BLAME_COMMAND_SYMBOLS_MACHINE_H
#define BLAME_COMMAND_SYMBOLS_MACHINE_H

#include <gelf.h>

#include "command/symbols/decode.h"

struct symbols_machine {
    unsigned elf; /* EM_* */
    bool (*decode)(const uint8_t *code, size_t room, uint64_t vaddr, struct symbols_instruction *result);
    /* The slot that a stub of the procedure linkage table jumps through; 0: it is none. */
    uint64_t (*stub_slot)(const uint8_t *code, size_t room, uint64_t vaddr);
    /* The offset from `from` on of the first call or jump of code that leads, directly or through a slot, to between low and
     * high; size: there is none. Fast: it looks at bytes, and may take those of another instruction for a call. */
    size_t (*next_site)(const uint8_t *code, size_t size, size_t from, uint64_t vaddr, uint64_t low, uint64_t high,
                        uint64_t *target);
    unsigned registers;
    uint32_t preserved;     /* by calls */
    int8_t argument[6];     /* the registers of the first ones */
    uint8_t call_bytes[2];  /* of a direct call, and of one through a slot; 0: there is none */
    uint32_t slot_types[2]; /* of the relocations of slots: R_*_JUMP_SLOT, R_*_GLOB_DAT */
};

/* NULL: not known. */
const struct symbols_machine *symbols_machine_of(Elf *elf);

#endif
