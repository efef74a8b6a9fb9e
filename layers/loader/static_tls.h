/* Room for the thread-local storage of the libraries that a process starts with. Beside an audit library glibc reserves it before
 * it knows them: some 1,800 bytes, or as GLIBC_TUNABLES says. Where that is not enough it would end the process. So the process is
 * started again, before any code of the program's has run, with more room. */
#ifndef BLAME_LAYERS_LOADER_STATIC_TLS_H
#define BLAME_LAYERS_LOADER_STATIC_TLS_H

#include <link.h>

#include "layers/loader/elf_view.h"

/* Looks in an object for the place of the process's arguments and environment; the loader itself has it. Returns how many lines this
 * process printed before it was started again. [init] */
unsigned static_tls_begin(const struct elf_view *view);

/* Adds an object that the process starts with, but for the program. Does not return where the process has to be started again. Where it
 * cannot be, returns once what GLIBC_TUNABLES would have to have; else NULL. lines: how many it has printed. [init] */
const char *static_tls_add(const struct link_map *map, unsigned lines);

/* Whether glibc finds a place for its thread-local storage beside an audit library: it does not for a stricter alignment than a thread's
 * own, where that storage has to be there before main. [init] */
bool static_tls_fits(const struct link_map *map, const struct elf_view *program);

/* Starts the process again without any audit library. Returns if that is not possible. [init] */
void static_tls_leave(void);

#endif
