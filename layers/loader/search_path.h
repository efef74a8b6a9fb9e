/* Finds a library as the dynamic loader would for an object with a DT_RUNPATH. The loader itself cannot be
 * asked: it uses a DT_RUNPATH only for the object that has it. */
#ifndef BLAME_LAYERS_LOADER_SEARCH_PATH_H
#define BLAME_LAYERS_LOADER_SEARCH_PATH_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* Searches the folders of LD_LIBRARY_PATH, whose value is `first`, and then those of the object's DT_RUNPATH.
 * Stores the path of the library. Returns false if the object has no DT_RUNPATH, or no folder has the library;
 * the loader then finds the library without it. [init] */
bool search_path_find(const struct link_map *needer, const char *first, const char *library, char *path, size_t bytes);

#endif
