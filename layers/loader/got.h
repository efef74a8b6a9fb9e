/* Binds calls that the loader does not show to la_symbind64(): those of code that reads a function's address from the
 * global offset table instead of calling it through the procedure linkage table (GCC's -fno-plt, Rust). */
#ifndef BLAME_LAYERS_LOADER_GOT_H
#define BLAME_LAYERS_LOADER_GOT_H

#include <link.h>
#include <stdbool.h>

/* Replaces the addresses of libc's functions in the object's table by those of their stubs (binding_of). Other
 * addresses stay, such as those of a sanitizer's functions. The object must be relocated. With `calls`, does the same
 * for calls through the procedure linkage table, which glibc before 2.35 does not show if it binds them at the start. [init] */
void got_bind(const struct link_map *map, bool calls);

#endif
