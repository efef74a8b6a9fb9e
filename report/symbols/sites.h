/* Call sites in debug information. */
#ifndef BLAME_REPORT_SYMBOLS_SITES_H
#define BLAME_REPORT_SYMBOLS_SITES_H

#include "report/symbols/module.h"

/* Adds to `list`, with the addresses in struct symbol_call not yet keys, what DWARF says of the call sites of
 * a function: whom indirect calls go to, and which indirect jumps are calls. */
void symbols_calls_dwarf(struct symbols_module *module, struct symbols_function *function,
                         struct symbols_call_list *list);

#endif
