/* Unwinds a frame whose function has no call frame information, by reading the function's code. The decoder
 * follows the instructions from the frame's address to the function's return. It tracks how they change rsp
 * and rbp. It needs neither the start of the function nor a symbol. Zydis decodes the instructions; it
 * allocates no memory and keeps no state.
 *
 * The numbers of instructions and branches are bounded. process_vm_readv() reads the code, so no read can
 * fault. A result holds for all instructions passed before rsp or rbp changed, and is cached for them. */
#ifndef BLAME_UNWIND_DECODE_H
#define BLAME_UNWIND_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/decode_way.h"

/* A thread's decoder, in a mapping of its own. */
struct decoder;

/* Returns a decoder; NULL if there is no memory. [handler] */
struct decoder *decoder_make(void);

/* Begins a walk. Its searches may follow 0.4 ms of code, plus what earlier walks have left over, up to 1.8
 * ms. [handler] */
void decoder_begin_walk(struct decoder *decoder);

/* Forgets all results about code. [handler] */
void decoder_forget(struct decoder *decoder);

/* Finds the recipe for an address where execution continues: the leaf's, or the one after a call. Calls
 * accept() for each recipe that a return yields. Returns false if accept() takes none. [handler] */
bool decoder_find(struct decoder *decoder, uintptr_t ip, bool (*accept)(const struct recipe *recipe, void *argument),
                  void *argument, struct recipe *recipe);

#endif
