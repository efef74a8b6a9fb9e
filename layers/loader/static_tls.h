/* Room for the thread-local storage of the libraries that a process starts with. With an audit library glibc
 * reserves it before it knows them: some 1,800 bytes, or the value of GLIBC_TUNABLES. If that is too little,
 * glibc ends the process. So the process is started again with more room, before any of the program's code
 * has run. */
#ifndef BLAME_LAYERS_LOADER_STATIC_TLS_H
#define BLAME_LAYERS_LOADER_STATIC_TLS_H

#include <link.h>

#include "layers/loader/elf_view.h"

/* Looks in an object for the address of the process's arguments and environment; the loader itself has it.
 * Returns how many lines this process printed before it was started again. [init] */
unsigned static_tls_begin(const struct elf_view *view);

/* Adds an object that the process starts with, except the program. Does not return if the process must be
 * started again. If that is impossible, returns once the value that GLIBC_TUNABLES should have; otherwise
 * NULL. lines: number of lines printed. [init] */
const char *static_tls_add(const struct link_map *map, unsigned lines);

/* Returns whether glibc finds room for the object's thread-local storage with an audit library. It does not
 * if the storage needs a stricter alignment than a thread's own and must exist before main. [init] */
bool static_tls_fits(const struct link_map *map, const struct elf_view *program);

/* Starts the process again without any audit library. Returns if that is impossible. [init] */
void static_tls_leave(void);

#endif
