/* Decodes single instructions of machine code. */
#ifndef BLAME_COMMAND_SYMBOLS_DECODE_H
#define BLAME_COMMAND_SYMBOLS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbols_flow {
    SYMBOLS_NEXT,   /* is followed by the next instruction */
    SYMBOLS_CALL,   /* calls a function, which returns to the next instruction */
    SYMBOLS_JUMP,   /* jumps always */
    SYMBOLS_BRANCH, /* jumps, or is followed by the next instruction */
    SYMBOLS_END,    /* a return or a trap: no instruction of the function follows */
};
struct symbols_instruction {
    size_t bytes;
    enum symbols_flow flow;
    bool fills;    /* whether the instruction does nothing, so that code after it is aligned */
    bool indirect; /* whether the target is read from a register or from memory */
    /* target of a call, jump or branch. If `indirect` is set, address of the memory that contains the target.
     * 0: unknown */
    uint64_t target;
    /* The instruction stores in register `to` the sum of `value` and register `from`. If `from` is -1, it
     * stores `value`. If `to` is -1, no known value is stored. */
    int8_t to, from;
    uint64_t value;
    uint32_t written; /* bit mask of the registers that the instruction may change, including `to` */
    /* For x86-64 only. bit mask of the registers that it reads, those in addresses included */
    uint32_t read;
    bool loads; /* whether it reads memory */
    /* whether it only moves or compares values, and changes nothing but registers and flags; also for jumps and fences */
    bool compares;
    /* bit mask of the registers whose values an atomic exchange, or compare and exchange, may store or compares with;
     * 0 for other instructions */
    uint32_t exchanged;
    bool atomic; /* whether it updates memory so that no other thread can come between; fences do not */
};
bool symbols_decode(const uint8_t *code, size_t room, uint64_t vaddr,
                    /* for x86-64; returns false if the instruction is not understood */
                    struct symbols_instruction *result);
bool symbols_decode_a64(const uint8_t *code, size_t room, uint64_t vaddr,
                        /* for aarch64; returns false if fewer than four bytes are left */
                        struct symbols_instruction *result);
/* Returns the address of the slot through which an aarch64 stub in the procedure linkage table jumps, or 0 if
 * the code is not such a stub. */
uint64_t symbols_decode_a64_slot(const uint8_t *code, size_t room, uint64_t vaddr);

#endif
