/* Names of functions in debug information, and which are inlined where. */
#ifndef BLAME_COMMAND_SYMBOLS_INLINE_H
#define BLAME_COMMAND_SYMBOLS_INLINE_H

#include "command/symbols/code.h"
#include "command/symbols/module.h"

/* Linkage name, else name, of a subprogram through its origin; "" none. Cheap: nothing is demangled. */
const char *symbols_dwarf_raw(Dwarf_Die *die, bool *linkage);
const char *symbols_dwarf_file(Dwarf_Die *die); /* where it is declared; "" unknown. */
/* Name and definition of a subprogram or inlined subroutine, through its origin; cached. */
const struct symbols_name *symbols_dwarf_name(struct symbols_module *module, Dwarf_Die *die);
/* True of what gfortran makes of a procedure that has ENTRYs: the procedure's own function calls it, too. */
bool symbols_dwarf_is_master(const struct symbols_name *name);

/* Functions at vaddr by DWARF, innermost first, at most SYMBOLS_MAX_FRAMES; 0: none. *unit, *function: where
 * they were found, or NULL. */
size_t symbols_inline_chain(struct symbols_module *module, uint64_t vaddr, struct symbols_raw *raws,
                            struct symbols_unit **unit, struct symbols_function **function);

#endif
