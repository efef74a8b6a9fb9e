/* Whether the dynamic loader asks la_symbind64() about bindings. If it does, glibc (2.36) allocates memory at the start by
 * calloc(), before anything of the program has run. That ends a program whose own calloc() is not ready then, such as one
 * that ThreadSanitizer is linked into. So the function is hidden from the loader, which looks it up after la_version(),
 * in programs that have a calloc() of their own. */
#ifndef BLAME_LAYERS_LOADER_SYMBIND_H
#define BLAME_LAYERS_LOADER_SYMBIND_H

#include <stdbool.h>

/* Returns true if the program itself, without its libraries, defines no calloc(). Returns false if that is unknown. May be
 * called before the loader shows us the program. [init] */
bool symbind_is_safe(void);

/* Hides la_symbind64() of this library. Must be called in la_version(). [init] */
void symbind_hide(void);

#endif
