/* Finds the source lines of code addresses. */
#ifndef BLAME_COMMAND_SYMBOLS_LINES_H
#define BLAME_COMMAND_SYMBOLS_LINES_H

#include "command/symbols/code.h"
#include "command/symbols/module.h"

/* Returns the source position of vaddr. If vaddr has no line (line 0), returns the position of the nearest
 * code before it that has one, but not of code before `low`, the function's entry. */
struct symbols_position symbols_lines_at(struct symbols_unit *unit, uint64_t vaddr, uint64_t low);
/* Returns the position in the first row of a function's line table. If GCC outlined the function, this is the
 * line of the directive. */
struct symbols_position symbols_lines_entry(struct symbols_unit *unit, uint64_t low);
const char *symbols_lines_file(Dwarf_Die *unit, uint64_t file_number); /* "" if unknown */
/* Finds the addresses at which the code of a source line starts. Returns their number, which is at most
 * `room`. */
size_t symbols_lines_find(struct symbols_unit *unit, const char *file, int line, uint64_t *vaddrs, size_t room);
/* Returns the smallest line not below `least` that the line table has for addresses from low to high
 * (exclusive), or 0 if there is none. */
int symbols_lines_least(struct symbols_unit *unit, uint64_t low, uint64_t high, int least);

#endif
