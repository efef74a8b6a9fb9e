/* Compilation units and their functions. */
#ifndef BLAME_COMMAND_SYMBOLS_DWARF_H
#define BLAME_COMMAND_SYMBOLS_DWARF_H

#include "command/symbols/module.h"

/* The compilation unit around vaddr, its functions indexed; NULL: none. */
struct symbols_unit *symbols_dwarf_unit(struct symbols_module *module, uint64_t vaddr);
struct symbols_function *symbols_dwarf_function(struct symbols_unit *unit, uint64_t vaddr); /* NULL: none. */
void symbols_dwarf_close(struct symbols_module *module);

/* What is to be done below an entry; the last one ends the walk. */
enum symbols_step { SYMBOLS_SKIP, SYMBOLS_ENTER, SYMBOLS_ENTER_LAST };
/* `around`: what the visit of the entry around it has left there. */
typedef enum symbols_step symbols_visit(void *argument, Dwarf_Die *die, uint32_t *around);
/* Visits the entries below one, in the file's order, with bounds to number and depth. */
void symbols_dwarf_walk(Dwarf_Die *parent, symbols_visit *visit, void *argument);

#endif
