/* Functions by unwind tables. */
#ifndef BLAME_COMMAND_SYMBOLS_UNWIND_H
#define BLAME_COMMAND_SYMBOLS_UNWIND_H

#include "command/symbols/module.h"

/* Finds the function around vaddr in the unwind tables: from *low to below *high. Returns false if it is
 * unknown. */
bool symbols_unwind_extent(struct symbols_module *module, uint64_t vaddr, uint64_t *low, uint64_t *high);

#endif
