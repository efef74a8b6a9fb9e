/* Decides whether a row is the program's own code, or foreign code that the program calls. A finding names a
 * line of the user's own code. */
#ifndef BLAME_COMMAND_ROWS_OWN_H
#define BLAME_COMMAND_ROWS_OWN_H

#include "command/profile/profile.h"
#include "command/rows/row.h"

/* Returns whether a file is a header of the system or of a compiler, or belongs to Python or a Rust crate that was
 * fetched. The templates and functions in it belong to libraries. */
bool rows_file_is_system_source(const char *file);

/* Sets `foreign` of rows that are not the program's own code. */
void rows_mark_foreign(struct rows *rows, const struct profile *profile);
/* Returns the row of the program's own code on whose behalf a row runs. This is the row itself, or its
 * nearest ancestor that is own code. If there is none, returns the outermost row. Own code is in the
 * program's modules, or in a source file that can be read. */
static inline uint32_t rows_own(const struct rows *rows, uint32_t row)
{
    if (rows->row[row].kind == ROW_STATEMENT)
        row = rows->row[row].parent;
    while (rows->row[row].foreign && rows->row[row].parent != 0)
        row = rows->row[row].parent;
    return row;
}
/* Returns whether a module has the name of an interpreter of Python or R, or of its library. */
static inline bool row_module_runs_scripts(const char *name)
{
    return strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0 || strncmp(name, "libR.", 5) == 0 ||
           strcmp(name, "R") == 0;
}
/* Returns the outermost function outside the program that a row is in: the foreign row that own code calls. Returns the
 * row itself if it is own code. */
static inline uint32_t rows_outermost(const struct rows *rows, uint32_t row)
{
    while (rows->row[row].foreign && rows->row[rows->row[row].parent].foreign)
        row = rows->row[row].parent;
    return row;
}

/* Returns whether a module of this name is a library that compilers link to every program. Such a library is foreign
 * even in a program that came with the system. */
bool rows_module_is_language_support(const char *name);

#endif
