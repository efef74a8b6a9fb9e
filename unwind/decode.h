/* Unwinds a frame whose function has no call frame information, by decoding the function's code. The decoder
 * follows the instructions from the frame's address to a return of the function, and tracks how they change
 * rsp and rbp. It needs neither the start of the function nor a symbol. On x86-64, Zydis decodes the
 * instructions; Zydis allocates no memory and keeps no state.
 *
 * The numbers of instructions and branches are bounded. process_vm_readv() reads the code, so no read can
 * fault. A recipe that is found holds for all instructions before the first change of rsp or rbp, and is kept
 * for these. */
#ifndef BLAME_UNWIND_DECODE_H
#define BLAME_UNWIND_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/decode_way.h"

/* a thread's decoder, which has a mapping of its own */
struct decoder;

/* Returns a new decoder; NULL if there is no memory. [handler] */
struct decoder *decoder_make(void);

/* Starts a walk. The decoder's searches in one walk may take 0.4 ms, plus the time that earlier walks have
 * not used, up to 1.8 ms in total. [handler] */
void decoder_begin_walk(struct decoder *decoder);

/* Discards all recipes found by decoding. [handler] */
void decoder_forget(struct decoder *decoder);

/* Finds the recipe for the address at which a frame continues: the interrupted instruction, or the one after
 * a call. A search may find several recipes; accept() is called for each, until it returns true. Returns
 * false if accept() rejects all. [handler] */
bool decoder_find(struct decoder *decoder, uintptr_t ip, bool (*accept)(const struct recipe *recipe, void *argument),
                  void *argument, struct recipe *recipe);

#endif
