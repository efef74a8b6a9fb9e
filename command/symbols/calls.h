/* Whom functions call, and what they hand to the OpenMP runtime. */
#ifndef BLAME_COMMAND_SYMBOLS_CALLS_H
#define BLAME_COMMAND_SYMBOLS_CALLS_H

#include <stdint.h>

#include "command/symbols/module.h"

/* Entry of the function around vaddr, also from its cold part; 0: not known. */
uint64_t symbols_calls_entry(struct symbols_module *module, uint64_t vaddr);
/* Calls and tail calls of the function at `entry`; NULL: none known. Cached. */
const struct symbols_call_list *symbols_calls_of(struct symbols_module *module, uint64_t entry);
/* The call that returns to vaddr + 1; NULL: not known. Cached. */
const struct symbol_call *symbols_calls_at(struct symbols_module *module, uint64_t vaddr);
/* Whether some call hands the function at `entry` to libgomp: 1 as a task, 0 as a region, -1 nothing known. */
int symbols_calls_launch(struct symbols_module *module, struct symbols_unit *unit, uint64_t entry);

#endif
