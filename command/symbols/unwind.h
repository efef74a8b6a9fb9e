/* Functions by the unwind tables. */
#ifndef BLAME_COMMAND_SYMBOLS_UNWIND_H
#define BLAME_COMMAND_SYMBOLS_UNWIND_H

#include "command/symbols/module.h"

/* The function around vaddr by the unwind tables, from *low up to *high; false: not known. */
bool symbols_unwind_extent(struct symbols_module *module, uint64_t vaddr, uint64_t *low, uint64_t *high);

#endif
