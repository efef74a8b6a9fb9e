/* Reads names of functions and inlined calls from debug information. */
#ifndef BLAME_COMMAND_SYMBOLS_INLINE_H
#define BLAME_COMMAND_SYMBOLS_INLINE_H

#include "command/symbols/code.h"
#include "command/symbols/module.h"

/* Returns the linkage name of a subprogram, or else its plain name; "" if it has none. Follows references to
 * the abstract origin. Cheap, because nothing is demangled. */
const char *symbols_dwarf_raw(Dwarf_Die *die, bool *linkage);
const char *symbols_dwarf_file(Dwarf_Die *die); /* returns the file of the declaration; "" if unknown */
/* Returns the name and definition of a subprogram or inlined subroutine. Follows references to the abstract
 * origin. The result is cached. */
const struct symbols_name *symbols_dwarf_name(struct symbols_module *module, Dwarf_Die *die);
/* Returns whether gfortran made the function from a procedure with ENTRY statements. The procedure's own
 * function calls it. */
bool symbols_dwarf_is_master(const struct symbols_name *name);

/* Finds the function and inlined functions at vaddr, innermost first. Returns their number, at most
 * SYMBOLS_MAX_FRAMES, or 0 if DWARF has none. Sets *unit and *function to the containing unit and function,
 * or NULL. */
size_t symbols_inline_chain(struct symbols_module *module, uint64_t vaddr, struct symbols_raw *raws,
                            struct symbols_unit **unit, struct symbols_function **function);

#endif
