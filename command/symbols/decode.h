/* Decoded instructions of machine code. */
#ifndef BLAME_COMMAND_SYMBOLS_DECODE_H
#define BLAME_COMMAND_SYMBOLS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbols_flow {
    SYMBOLS_NEXT,   /* continues with the next instruction */
    SYMBOLS_CALL,   /* calls, then continues with the next instruction */
    SYMBOLS_JUMP,   /* jumps, and never continues with the next instruction */
    SYMBOLS_BRANCH, /* jumps, or continues with the next instruction */
    SYMBOLS_END,    /* ends the path: a return or a trap */
};
struct symbols_instruction {
    size_t bytes;
    enum symbols_flow flow;
    bool indirect; /* call or jump through a register or memory */
    /* target of a call, jump or branch; if indirect, the address of the memory that contains the target; 0:
     * unknown */
    uint64_t target;
    /* register `to` gets `value`, plus the value of register `from` if there is one; -1: none */
    int8_t to, from;
    uint64_t value;
    uint32_t written; /* bit mask of registers that may have changed, including `to` */
};
bool symbols_decode(const uint8_t *code, size_t room, uint64_t vaddr,
                    /* x86-64; returns false if the instruction is not understood */
                    struct symbols_instruction *result);
bool symbols_decode_a64(const uint8_t *code, size_t room, uint64_t vaddr,
                        /* aarch64; returns false if fewer than four bytes are left */
                        struct symbols_instruction *result);
/* Returns the address of the slot through which an aarch64 stub in the procedure linkage table jumps; 0 if
 * the code is not such a stub. */
uint64_t symbols_decode_a64_slot(const uint8_t *code, size_t room, uint64_t vaddr);

#endif
