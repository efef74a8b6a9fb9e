/* How to leave a frame of code without call frame information, from the code itself: what would happen to rsp and
 * rbp until the function returns is followed instruction by instruction, from the frame's address forward. Neither
 * the function's begin nor a symbol is needed. Zydis decodes: no memory of its own, no state.
 *
 * Bounded: so many instructions, so many branches. Code is read by process_vm_readv: nothing can fault. What a way
 * to a return found holds for all code that it passed before rsp or rbp changed, and is kept for that. */
#ifndef BLAME_UNWIND_DECODE_H
#define BLAME_UNWIND_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/decode_way.h"

/* A thread's, in a mapping of its own. */
struct decoder;

/* NULL when there is no memory. [handler] */
struct decoder *decoder_make(void);

/* Another walk: what its searches may follow, 0.4 ms of code, is added to what earlier walks have left over, up to
 * 1.8 ms. [handler] */
void decoder_begin_walk(struct decoder *decoder);

/* Forgets what was learnt of code. [handler] */
void decoder_forget(struct decoder *decoder);

/* The recipe for an address where execution goes on (the leaf's, or behind a call); returns false when the code
 * shows none that accept() takes, which is asked for each that a way out yields. [handler] */
bool decoder_find(struct decoder *decoder, uintptr_t ip, bool (*accept)(const struct recipe *recipe, void *argument),
                  void *argument, struct recipe *recipe);

#endif
