/* Stubs: short functions that jump to an address which may change. A call that the dynamic loader has bound to a stub
 * reaches another function later without being bound again. There is one stub for each of libc's functions that
 * libblame-pthreads.so has in its list, in the order of that list. */
#ifndef BLAME_LAYERS_LOADER_STUBS_H
#define BLAME_LAYERS_LOADER_STUBS_H

#include <stdint.h>

#include "layers/pthreads/functions.h"

#define STUBS_NUMBER(type, name, ...) STUB_OF_##name,
enum { PTHREADS_FUNCTIONS(STUBS_NUMBER) STUB_COUNT };

/* code of the stubs; each has STUB_BYTES bytes */
#define STUB_BYTES 16
extern const char stubs_code[] __attribute__((visibility("hidden")));

/* where each stub jumps to; must be set before the stub is called */
extern uintptr_t stubs_to[STUB_COUNT] __attribute__((visibility("hidden")));

#endif
