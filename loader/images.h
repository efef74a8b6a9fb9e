/* Files of loaded libraries, mapped for the tool (base/launched.h). All under the loader's lock. */
#ifndef BLAME_LOADER_IMAGES_H
#define BLAME_LOADER_IMAGES_H

#include <link.h>

#include "base/launched.h"

/* Returns the LAUNCHED_IMAGES entries. */
struct launched_image *images_of_process(void);

/* Maps the file of a library that has just been loaded, unless it is large or the process's memory is limited. */
void images_add(const struct link_map *map);

/* Unmaps the file of a library that is being closed, unless the tool keeps it. */
void images_remove(const struct link_map *map);

#endif
