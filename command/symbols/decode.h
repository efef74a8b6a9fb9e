/* Machine code. */
#ifndef BLAME_COMMAND_SYMBOLS_DECODE_H
#define BLAME_COMMAND_SYMBOLS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbols_flow {
    SYMBOLS_NEXT,   /* continues with the next instruction */
    SYMBOLS_CALL,   /* calls, then continues with the next instruction */
    SYMBOLS_JUMP,   /* away */
    SYMBOLS_BRANCH, /* jumps or continues */
    SYMBOLS_END,    /* return, trap */
};
struct symbols_instruction {
    size_t bytes;
    enum symbols_flow flow;
    bool indirect; /* call or jump through a register or memory */
    /* target of a call, jump or branch; if indirect, the address that stores the target; 0: unknown */
    uint64_t target;
    int8_t to, from; /* register `to` becomes `value`, or register `from` plus `value`; -1: none */
    uint64_t value;
    uint32_t written; /* bit set of registers that may have changed, including `to` */
};
bool symbols_decode(const uint8_t *code, size_t room, uint64_t vaddr,
                    /* x86-64; returns false if the code is not understood */
                    struct symbols_instruction *result);
bool symbols_decode_a64(const uint8_t *code, size_t room, uint64_t vaddr,
                        /* aarch64; returns false if the code is cut off */
                        struct symbols_instruction *result);
/* Returns the slot that an aarch64 stub in the procedure linkage table jumps through; 0 if the code is no
 * such stub. */
uint64_t symbols_decode_a64_slot(const uint8_t *code, size_t room, uint64_t vaddr);

#endif
