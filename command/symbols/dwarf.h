/* Compilation units and their functions. */
#ifndef BLAME_COMMAND_SYMBOLS_DWARF_H
#define BLAME_COMMAND_SYMBOLS_DWARF_H

#include "command/symbols/module.h"

/* Returns the compilation unit around vaddr with its functions indexed; NULL if there is none. */
struct symbols_unit *symbols_dwarf_unit(struct symbols_module *module, uint64_t vaddr);
struct symbols_function *symbols_dwarf_function(struct symbols_unit *unit, uint64_t vaddr); /* NULL: none. */
void symbols_dwarf_close(struct symbols_module *module);

/* What to do with the entries below a visited entry. SYMBOLS_ENTER_LAST ends the walk afterwards. */
enum symbols_step { SYMBOLS_SKIP, SYMBOLS_ENTER, SYMBOLS_ENTER_LAST };
/* around: a number that the visit passes on to the entries below; holds the enclosing entry's number before. */
typedef enum symbols_step symbols_visit(void *argument, Dwarf_Die *die, uint32_t *around);
/* Visits all entries below one in file order. Their number and depth are bounded. */
void symbols_dwarf_walk(Dwarf_Die *parent, symbols_visit *visit, void *argument);

#endif
