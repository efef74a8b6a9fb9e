/* Names behind addresses that only the loader knows, and functions by name. */
#ifndef BLAME_COMMAND_SYMBOLS_PLT_H
#define BLAME_COMMAND_SYMBOLS_PLT_H

#include "command/symbols/module.h"

/* The function with this name that other modules bind to, else the only one with it; 0: none, or chosen by
 * the loader among several (IFUNC). */
uint64_t symbols_calls_named(struct symbols_module *module, const char *name);
/* The name behind a stub of the procedure linkage table at vaddr, or NULL; and behind a slot of the global
 * offset table. */
const char *symbols_plt_stub(struct symbols_module *module, uint64_t vaddr);
const char *symbols_plt_slot(struct symbols_module *module, uint64_t slot);
/* Slots of all functions that the module calls in others. */
size_t symbols_plt_slots(struct symbols_module *module, const struct symbols_slot **slots);

#endif
