/* Finds the names that the dynamic loader resolves, and finds functions by name. */
#ifndef BLAME_COMMAND_SYMBOLS_PLT_H
#define BLAME_COMMAND_SYMBOLS_PLT_H

#include "command/symbols/module.h"

/* Returns the entry of the function with a name: of the exported function, or of the only local one. Returns
 * 0 if there is none, if several functions have the name, or if the loader selects one of several (IFUNC). */
uint64_t symbols_calls_named(struct symbols_module *module, const char *name);
/* Return the name of the function to which a stub in the procedure linkage table or a slot of the global
 * offset table leads, or NULL if there is none. */
const char *symbols_plt_stub(struct symbols_module *module, uint64_t vaddr);
const char *symbols_plt_slot(struct symbols_module *module, uint64_t slot);
/* Finds the slots of all functions that the module imports, and returns their number. */
size_t symbols_plt_slots(struct symbols_module *module, const struct symbols_slot **slots);

#endif
