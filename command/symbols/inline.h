/* Reads the names of functions and of inlined calls from debug information. */
#ifndef BLAME_COMMAND_SYMBOLS_INLINE_H
#define BLAME_COMMAND_SYMBOLS_INLINE_H

#include "command/symbols/code.h"
#include "command/symbols/module.h"

/* Returns the linkage name of a subprogram, or its plain name if it has no linkage name, or "" if it has
 * neither. Follows references to the abstract origin. Demangles nothing, so it is cheap. */
const char *symbols_dwarf_raw(Dwarf_Die *die, bool *linkage);
/* Returns the file in which the entry is declared, or "" if it is unknown. */
const char *symbols_dwarf_file(Dwarf_Die *die);
/* Returns the name and definition of a subprogram or inlined subroutine. Follows references to the abstract
 * origin. The result is cached. */
const struct symbols_name *symbols_dwarf_name(struct symbols_module *module, Dwarf_Die *die);
/* Returns whether the function is one that gfortran generated from a procedure with ENTRY statements. The
 * procedure itself calls that function. */
bool symbols_dwarf_is_master(const struct symbols_name *name);

/* Finds the function that contains vaddr and the calls inlined at vaddr, innermost first. Returns their
 * number, at most SYMBOLS_MAX_FRAMES, or 0 if DWARF does not describe vaddr. *unit and *function are set to
 * the unit and the function that contain vaddr, or to NULL. */
size_t symbols_inline_chain(struct symbols_module *module, uint64_t vaddr, struct symbols_raw *raws,
                            struct symbols_unit **unit, struct symbols_function **function);

#endif
