/* The files of libraries that come after the start, for the tool: base/launched.h. Under the loader's lock. */
#ifndef BLAME_LOADER_IMAGES_H
#define BLAME_LOADER_IMAGES_H

#include <link.h>

#include "base/launched.h"

struct launched_image *images_of_process(void);

/* Maps the file of a library that has just been loaded, unless it is large or the process's memory is limited. */
void images_add(const struct link_map *map);
/* Lets go of it, unless the tool has taken it. */
void images_remove(const struct link_map *map);

#endif
