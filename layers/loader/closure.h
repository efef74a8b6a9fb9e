/* The objects of the process: the program and its libraries. */
#ifndef BLAME_LAYERS_LOADER_CLOSURE_H
#define BLAME_LAYERS_LOADER_CLOSURE_H

#include <link.h>
#include <stdbool.h>

/* Returns true if an object in the process defines the name. Also returns true if some object has only the
 * old hash table, in which we do not search. [init] */
bool closure_has_symbol(const void *first, const char *name);

/* Returns true if the process has every library that its objects need. replaced() says of a library's file name that another
 * one stands for it; NULL: none does. The loader does not say before it binds calls that all libraries are there. [init] */
bool closure_is_whole(const struct link_map *first, bool (*replaced)(const char *file));

/* Returns true if an object calls a function that no object defines. [init] */
bool closure_is_unbound(const struct link_map *first);

#endif
