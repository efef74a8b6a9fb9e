/* What the program's loader tells the tool under `blame run`: loader/audit.c writes it into libblame.so's
 * `blame_launched` when that library is loaded. All zero without the launcher. */
#ifndef BLAME_BASE_LAUNCHED_H
#define BLAME_BASE_LAUNCHED_H

#include <stddef.h>
#include <stdint.h>

/* Files of libraries that were loaded after the start, mapped as each was loaded: it may be unlinked, or have had a path that is no
 * longer its own (/proc/self/fd/N), before the first sample in it. The loader's part fills and empties them, under the loader's
 * lock; the tool takes some, at any moment. */
#define LAUNCHED_IMAGES 64
enum launched_image_state { LAUNCHED_FREE, LAUNCHED_THERE, LAUNCHED_TAKEN };
struct launched_image {
    uint32_t state;  /* THERE becomes TAKEN or FREE by compare and exchange: whoever does that has the mapping */
    uintptr_t base;  /* of the library: address = link-time address + base */
    const void *data;
    size_t bytes;
};

struct launched {
    uint64_t image_start_ns; /* CLOCK_MONOTONIC, when the loader began with this program */
    uintptr_t loader;        /* in the code of loader/ */
    uint32_t before_main;    /* the program itself needs an OpenMP runtime, which was started before main */
    uint32_t moved;          /* an object that asked for GCC's runtime has got LLVM's */
    struct launched_image *images; /* LAUNCHED_IMAGES of them */
    uint32_t deprecated;     /* one of these calls what LLVM's comments on, and GCC's does not */
};

extern struct launched blame_launched;

#endif
