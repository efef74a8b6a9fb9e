/* Finds the source lines of addresses. */
#ifndef BLAME_COMMAND_SYMBOLS_LINES_H
#define BLAME_COMMAND_SYMBOLS_LINES_H

#include "command/symbols/code.h"
#include "command/symbols/module.h"

/* Returns the source position of vaddr. For code without a line (line 0), returns the nearest position before
 * it, but not before the function's entry `low`. */
struct symbols_position symbols_lines_at(struct symbols_unit *unit, uint64_t vaddr, uint64_t low);
/* Returns the position of a function's first row. For outlined functions of GCC, this is the directive's
 * line. */
struct symbols_position symbols_lines_entry(struct symbols_unit *unit, uint64_t low);
const char *symbols_lines_file(Dwarf_Die *unit, uint64_t file_number); /* "" if unknown */
/* Finds the addresses at which code of a source line starts. Returns their number, at most `room`. */
size_t symbols_lines_find(struct symbols_unit *unit, const char *file, int line, uint64_t *vaddrs, size_t room);
/* Returns the smallest line that is at least `least` in the rows for addresses low to high (exclusive); 0 if
 * there is none. */
int symbols_lines_least(struct symbols_unit *unit, uint64_t low, uint64_t high, int least);

#endif
