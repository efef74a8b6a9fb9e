/* Loads libraries into the program. */
#ifndef BLAME_LAYERS_LOADER_LOAD_H
#define BLAME_LAYERS_LOADER_LOAD_H

#include <link.h>

/* Loads a library into the namespace of the program, whose list of objects begins with `first`. Returns NULL if that
 * fails; the program does not notice. Must not be called while the loader holds its lock. [init] */
const struct link_map *load_object(const struct link_map *first, const char *path);

#endif
