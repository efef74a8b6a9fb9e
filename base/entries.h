/* The entries of a directory. */
#ifndef BLAME_BASE_ENTRIES_H
#define BLAME_BASE_ENTRIES_H

#include <stdbool.h>

/* Calls visit(name, argument) for each entry of the directory, "." and ".." included, until it returns false. Returns
 * false if the directory cannot be read. Unlike opendir(), this does not use the program's heap. [any] */
bool entries_visit(const char *path, bool (*visit)(const char *name, void *argument), void *argument);

/* The same for an open directory. Calls nothing of the C library. [any] */
bool entries_visit_open(int directory, bool (*visit)(const char *name, void *argument), void *argument);

#endif
