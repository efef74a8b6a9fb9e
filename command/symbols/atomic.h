/* Finds code that updates memory atomically. */
#ifndef BLAME_COMMAND_SYMBOLS_ATOMIC_H
#define BLAME_COMMAND_SYMBOLS_ATOMIC_H

#include "command/symbols/module.h"

/* Returns whether a thread that was stopped before the instruction at vaddr spends its time on an atomic update: the
 * instruction or the one before it is locked, or it is in a short loop that repeats an update until it succeeds. A
 * processor that has begun a locked instruction stops only after it. Always false on other machines than x86-64. */
bool symbols_updates_at(struct symbols_module *module, uint64_t vaddr);
/* Returns whether the function calls the runtime to combine the copies of a reduction, or, if GCC has compiled it, to update
 * memory under a lock. */
bool symbols_combines_at(struct symbols_module *module, uint64_t vaddr);

#endif
