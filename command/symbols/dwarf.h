/* Finds compilation units and functions in debug information (DWARF). */
#ifndef BLAME_COMMAND_SYMBOLS_DWARF_H
#define BLAME_COMMAND_SYMBOLS_DWARF_H

#include "command/symbols/module.h"

/* Returns the compilation unit that contains vaddr, or NULL if there is none. The functions of the unit are
 * indexed. */
struct symbols_unit *symbols_dwarf_unit(struct symbols_module *module, uint64_t vaddr);
/* Returns the function that contains vaddr, or NULL if there is none. */
struct symbols_function *symbols_dwarf_function(struct symbols_unit *unit, uint64_t vaddr);
void symbols_dwarf_close(struct symbols_module *module);

/* What a visit asks for: to skip the entries inside the visited one, to visit them, or to visit them and then
 * end the walk. */
enum symbols_step { SYMBOLS_SKIP, SYMBOLS_ENTER, SYMBOLS_ENTER_LAST };
/* Visits an entry. *around is a number that the visit of the enclosing entry stored. A visit may store
 * another number for the entries inside its own. */
typedef enum symbols_step symbols_visit(void *argument, Dwarf_Die *die, uint32_t *around);
/* Visits all entries inside `parent`, in the order of the file. Limits their number and depth. */
void symbols_dwarf_walk(Dwarf_Die *parent, symbols_visit *visit, void *argument);

#endif
