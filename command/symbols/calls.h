/* Finds which functions a function calls, and which functions it passes to the OpenMP runtime. */
#ifndef BLAME_COMMAND_SYMBOLS_CALLS_H
#define BLAME_COMMAND_SYMBOLS_CALLS_H

#include <stdint.h>

#include "command/symbols/module.h"

/* Returns the entry of the function that contains vaddr, or 0 if it is unknown. vaddr may be in the cold part
 * of the function. */
uint64_t symbols_calls_entry(struct symbols_module *module, uint64_t vaddr);
/* Returns the calls and tail calls in the function that starts at `entry`, or NULL if they are unknown. The
 * result is cached. */
const struct symbols_call_list *symbols_calls_of(struct symbols_module *module, uint64_t entry);
/* Returns the call whose return address is vaddr + 1, or NULL if it is unknown. The result is cached. */
const struct symbol_call *symbols_calls_at(struct symbols_module *module, uint64_t vaddr);
/* Returns how code of the unit passes the function at `entry` to libgomp: 1 as a task, 0 as a region, -1 if
 * unknown. */
int symbols_calls_launch(struct symbols_module *module, struct symbols_unit *unit, uint64_t entry);

#endif
