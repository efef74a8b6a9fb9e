/* Makes sure that there is enough room for the thread-local storage of the libraries with which a process
 * starts. If there is an audit library, glibc reserves this room before it knows the libraries: about 1,800
 * bytes, or as much as GLIBC_TUNABLES says. If that is too little, glibc ends the process. To prevent this,
 * we restart the process with more room, before any code of the program has run. */
#ifndef BLAME_LAYERS_LOADER_STATIC_TLS_H
#define BLAME_LAYERS_LOADER_STATIC_TLS_H

#include <link.h>

#include "layers/loader/elf_view.h"

/* Finds the process's arguments and environment by a variable of the loader, if `view` is the loader. Returns
 * the number of lines that the process printed before it was restarted. [init] */
unsigned static_tls_begin(const struct elf_view *view);

/* Adds the needs of an object with which the process starts, other than the program. Does not return if the
 * process is restarted. If a restart is necessary but impossible, returns the tunable that GLIBC_TUNABLES
 * should contain, but only once; otherwise returns NULL. `lines` is the number of lines printed so far.
 * [init] */
const char *static_tls_add(const struct link_map *map, unsigned lines);

/* Returns false if glibc cannot place the object's thread-local storage while there is an audit library. This
 * is the case if the storage must exist before main, and needs a larger alignment than the program's storage
 * and the thread itself. [init] */
bool static_tls_fits(const struct link_map *map, const struct elf_view *program);

/* Restarts the process without the variables that begin with this text, such as "LD_AUDIT=". Returns only on failure. [init] */
void static_tls_start_without(const char *variable);

#endif
