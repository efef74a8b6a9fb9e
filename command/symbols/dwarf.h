/* Finds compilation units and functions in DWARF. */
#ifndef BLAME_COMMAND_SYMBOLS_DWARF_H
#define BLAME_COMMAND_SYMBOLS_DWARF_H

#include "command/symbols/module.h"

/* Returns the compilation unit that contains vaddr, with its functions indexed; NULL if there is none. */
struct symbols_unit *symbols_dwarf_unit(struct symbols_module *module, uint64_t vaddr);
/* NULL if none contains vaddr */
struct symbols_function *symbols_dwarf_function(struct symbols_unit *unit, uint64_t vaddr);
void symbols_dwarf_close(struct symbols_module *module);

/* Result of a visit: whether to visit the entries below. SYMBOLS_ENTER_LAST visits them and then ends the
 * walk. */
enum symbols_step { SYMBOLS_SKIP, SYMBOLS_ENTER, SYMBOLS_ENTER_LAST };
/* Visits an entry. *around is a number that the visit of the enclosing entry chose; the visit may replace it
 * for the entries below. */
typedef enum symbols_step symbols_visit(void *argument, Dwarf_Die *die, uint32_t *around);
/* Visits all entries below `parent`, in file order. The number and depth of visited entries are limited. */
void symbols_dwarf_walk(Dwarf_Die *parent, symbols_visit *visit, void *argument);

#endif
