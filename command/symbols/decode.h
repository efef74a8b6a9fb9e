/* Machine code. */
#ifndef BLAME_COMMAND_SYMBOLS_DECODE_H
#define BLAME_COMMAND_SYMBOLS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbols_flow {
    SYMBOLS_NEXT,   /* on to the next instruction */
    SYMBOLS_CALL,   /* the same, after a call */
    SYMBOLS_JUMP,   /* away */
    SYMBOLS_BRANCH, /* away or on */
    SYMBOLS_END,    /* return, trap */
};
struct symbols_instruction {
    size_t bytes;
    enum symbols_flow flow;
    bool indirect;   /* call or jump through a register or memory */
    uint64_t target; /* of a call, jump or branch; indirect: where the address is stored, 0 unknown */
    int8_t to, from; /* register `to` gets `value`, or what register `from` has and `value` more; -1: no such thing */
    uint64_t value;
    uint32_t written; /* set of registers that may have changed, `to` among them */
};
bool symbols_decode(const uint8_t *code, size_t room, uint64_t vaddr,
                    struct symbols_instruction *result); /* of x86-64; false: not understood. */
bool symbols_decode_a64(const uint8_t *code, size_t room, uint64_t vaddr,
                        struct symbols_instruction *result); /* of aarch64; false: cut off. */
/* The slot that a stub of aarch64's procedure linkage table jumps through; 0: it is none. */
uint64_t symbols_decode_a64_slot(const uint8_t *code, size_t room, uint64_t vaddr);

#endif
