/* What the program's loader tells the tool under `blame run`: layers/loader/audit.c writes it into libblame.so's
 * `blame_launched` when that library is loaded. All zero without the launcher. */
#ifndef BLAME_BASE_LAUNCHED_H
#define BLAME_BASE_LAUNCHED_H

#include <stddef.h>
#include <stdint.h>

/* Libraries that were loaded beside the tool. The loader's part maps each file as it is loaded: before the first sample in the library the file
 * may be unlinked, or its path may be another file's (/proc/self/fd/N). Who changes `state` from THERE by compare and exchange has the entry:
 * the loader's part makes it FREE to unmap the file, the tool makes it HELD to look at the file, and then FREE if it keeps the mapping, else
 * THERE again. The loader's part fills FREE entries only, under the loader's lock. */
#define LAUNCHED_IMAGES 64
enum launched_image_state { LAUNCHED_FREE, LAUNCHED_THERE, LAUNCHED_HELD };
struct launched_image {
    uint32_t state;
    uintptr_t base; /* of the library: address = link-time address + base */
    const void *data;
    size_t bytes;
};

struct launched {
    uint64_t image_start_ns;       /* CLOCK_MONOTONIC, when the loader began with this program */
    uintptr_t loader;              /* in the code of layers/loader/ */
    uint32_t before_main;          /* the program itself needs an OpenMP runtime, which was started before main */
    uint32_t moved;                /* an object that asked for GCC's runtime has got LLVM's */
    uint32_t deprecated;           /* such an object makes calls that LLVM's runtime warns of and GCC's does not */
    struct launched_image *images; /* LAUNCHED_IMAGES of them */
};

extern struct launched blame_launched;

#endif
