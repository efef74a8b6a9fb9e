/* Compilation units and their functions. */
#ifndef BLAME_REPORT_SYMBOLS_DWARF_H
#define BLAME_REPORT_SYMBOLS_DWARF_H

#include "report/symbols/module.h"

/* The compilation unit around vaddr, its functions indexed; NULL: none. [init] */
struct symbols_unit *symbols_dwarf_unit(struct symbols_module *module, uint64_t vaddr);
struct symbols_function *symbols_dwarf_function(struct symbols_unit *unit,
                                                uint64_t vaddr); /* NULL: none. [init] */
void symbols_dwarf_close(struct symbols_module *module);         /* [init] */
/* Whether a call site passes the function at `entry` to libgomp: 1 as a task, 0 as a region, -1 nothing
 * known. [init] */
int symbols_dwarf_launch(struct symbols_unit *unit, uint64_t entry);
/* The next sibling; false at the end, and on entries that would lead backward. [init] */
bool symbols_dwarf_next(Dwarf_Die *die);

#endif
