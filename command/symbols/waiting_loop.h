/* Finds loops in which a thread only waits for another one. */
#ifndef BLAME_COMMAND_SYMBOLS_WAITING_LOOP_H
#define BLAME_COMMAND_SYMBOLS_WAITING_LOOP_H

#include "command/symbols/module.h"

/* Returns whether code is in a short loop that only reads memory and compares, or tries to take a lock by exchanging
 * constants, and may yield its core or flush. Each pass does the same with the same addresses and values, so only
 * another thread can end such a loop. vaddr: address of an instruction, or the last byte of a call. Always false on
 * other machines than x86-64. */
bool symbols_waits_at(struct symbols_module *module, uint64_t vaddr);

#endif
