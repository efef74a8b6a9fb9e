/* Names of functions in debug information, and which functions are inlined where. */
#ifndef BLAME_COMMAND_SYMBOLS_INLINE_H
#define BLAME_COMMAND_SYMBOLS_INLINE_H

#include "command/symbols/code.h"
#include "command/symbols/module.h"

/* Returns the linkage name of a subprogram, or else its name, following its origin; "" if there is none.
 * Cheap, because nothing is demangled. */
const char *symbols_dwarf_raw(Dwarf_Die *die, bool *linkage);
const char *symbols_dwarf_file(Dwarf_Die *die); /* the file of the declaration; "" if unknown */
/* Returns the name and definition of a subprogram or inlined subroutine, following its origin. Cached. */
const struct symbols_name *symbols_dwarf_name(struct symbols_module *module, Dwarf_Die *die);
/* Returns whether the function is the one that gfortran makes for a procedure with ENTRYs; the procedure's
 * own function calls it. */
bool symbols_dwarf_is_master(const struct symbols_name *name);

/* Finds the functions at vaddr in DWARF, innermost first, and returns their number, at most
 * SYMBOLS_MAX_FRAMES; 0 if there are none. *unit and *function: where they were found, or NULL. */
size_t symbols_inline_chain(struct symbols_module *module, uint64_t vaddr, struct symbols_raw *raws,
                            struct symbols_unit **unit, struct symbols_function **function);

#endif
