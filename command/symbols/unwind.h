/* Finds functions in a module's unwind tables. */
#ifndef BLAME_COMMAND_SYMBOLS_UNWIND_H
#define BLAME_COMMAND_SYMBOLS_UNWIND_H

#include "command/symbols/module.h"

/* Finds the function that contains vaddr. *low is its entry, *high the address after its end. Returns false
 * if the unwind tables do not show the function. */
bool symbols_unwind_extent(struct symbols_module *module, uint64_t vaddr, uint64_t *low, uint64_t *high);

#endif
