/* Source lines of addresses. */
#ifndef BLAME_COMMAND_SYMBOLS_LINES_H
#define BLAME_COMMAND_SYMBOLS_LINES_H

#include "command/symbols/code.h"
#include "command/symbols/module.h"

/* Returns the source position of vaddr. Code without a line (line 0) gets the preceding line, searched for
 * back to the function's start `low`. */
struct symbols_position symbols_lines_at(struct symbols_unit *unit, uint64_t vaddr, uint64_t low);
/* Returns the line of a function's first row, which for outlined functions is the construct's line. */
struct symbols_position symbols_lines_entry(struct symbols_unit *unit, uint64_t low);
const char *symbols_lines_file(Dwarf_Die *unit, uint64_t file_number); /* "" unknown. */
/* Finds addresses at which code of a source line starts. Returns their number, at most `room`. */
size_t symbols_lines_find(struct symbols_unit *unit, const char *file, int line, uint64_t *vaddrs, size_t room);
/* Returns the smallest line >= least among the rows of [low, high); 0 if there is none. */
int symbols_lines_least(struct symbols_unit *unit, uint64_t low, uint64_t high, int least);

#endif
