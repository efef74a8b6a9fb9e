/* Ensures that the thread-local storage of the libraries that a process starts with has enough room. If there
 * is an audit library, glibc reserves this room before it knows the libraries: some 1,800 bytes, or as much
 * as GLIBC_TUNABLES says. If that is too little, glibc ends the process. So the process is started again with
 * more room, before any of the program's code has run. */
#ifndef BLAME_LAYERS_LOADER_STATIC_TLS_H
#define BLAME_LAYERS_LOADER_STATIC_TLS_H

#include <link.h>

#include "layers/loader/elf_view.h"

/* Finds the process's arguments and environment by a variable of the loader, when `view` is the loader.
 * Returns the number of lines that the process printed before it was started again. [init] */
unsigned static_tls_begin(const struct elf_view *view);

/* Adds an object that the process starts with, but not the program. Does not return if the process is started
 * again. If a restart is necessary but impossible, returns the tunable that GLIBC_TUNABLES should contain,
 * once; otherwise NULL. `lines` is the number of lines printed until now. [init] */
const char *static_tls_add(const struct link_map *map, unsigned lines);

/* Returns false if glibc cannot place the object's thread-local storage as long as there is an audit library:
 * the storage must exist before main, and needs a larger alignment than the program's and the thread's own.
 * [init] */
bool static_tls_fits(const struct link_map *map, const struct elf_view *program);

/* Starts the process again without audit libraries. Returns only if the start fails. [init] */
void static_tls_leave(void);

#endif
