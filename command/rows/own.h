/* Which rows are the program's own code, and which are what it calls: a finding names the user's line. */
#ifndef BLAME_COMMAND_ROWS_OWN_H
#define BLAME_COMMAND_ROWS_OWN_H

#include "command/profile/profile.h"
#include "command/rows/row.h"

/* Tells what the program calls from its own code. */
void rows_mark_foreign(struct rows *rows, const struct profile *profile);
/* The row of the program's own code (in its modules, or in a file that is at hand) that a row runs for:
 * itself, or the nearest around it; the outermost when there is none. */
static inline uint32_t rows_own(const struct rows *rows, uint32_t row)
{
    if (rows->row[row].kind == ROW_STATEMENT)
        row = rows->row[row].parent;
    while (rows->row[row].foreign && rows->row[row].parent != 0)
        row = rows->row[row].parent;
    return row;
}

#endif
