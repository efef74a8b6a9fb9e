/* Finds the functions that a function calls, and those that it passes to the OpenMP runtime. */
#ifndef BLAME_COMMAND_SYMBOLS_CALLS_H
#define BLAME_COMMAND_SYMBOLS_CALLS_H

#include <stdint.h>

#include "command/symbols/module.h"

/* Returns the entry of the function that contains vaddr, 0 if unknown. vaddr may be in the function's cold
 * part. */
uint64_t symbols_calls_entry(struct symbols_module *module, uint64_t vaddr);
/* Returns the calls and tail calls of the function at `entry`; NULL if they are unknown. The result is
 * cached. */
const struct symbols_call_list *symbols_calls_of(struct symbols_module *module, uint64_t entry);
/* Returns the call with return address vaddr + 1; NULL if unknown. The result is cached. */
const struct symbol_call *symbols_calls_at(struct symbols_module *module, uint64_t vaddr);
/* Returns how the unit's code passes the function at `entry` to libgomp: 1 as a task, 0 as a region, -1 if
 * unknown. */
int symbols_calls_launch(struct symbols_module *module, struct symbols_unit *unit, uint64_t entry);

#endif
