/* Source lines of addresses. */
#ifndef BLAME_COMMAND_SYMBOLS_LINES_H
#define BLAME_COMMAND_SYMBOLS_LINES_H

#include "command/symbols/code.h"
#include "command/symbols/module.h"

/* The source position of vaddr. Code that belongs to no line (line 0) gets the line before it, not further
 * back than `low`, the function's start. */
struct symbols_position symbols_lines_at(struct symbols_unit *unit, uint64_t vaddr, uint64_t low);
/* The line of the first row of a function: compilers that outline put the construct's line there. */
struct symbols_position symbols_lines_entry(struct symbols_unit *unit, uint64_t low);
const char *symbols_lines_file(Dwarf_Die *unit, uint64_t file_number); /* "" unknown. */
/* Start addresses of the code of one source line, at most room of them. */
size_t symbols_lines_find(struct symbols_unit *unit, const char *file, int line, uint64_t *vaddrs, size_t room);
/* The smallest line in [least, ...) among the rows of [low, high); 0: none. */
int symbols_lines_least(struct symbols_unit *unit, uint64_t low, uint64_t high, int least);

#endif
