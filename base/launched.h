/* What the program's loader tells the tool under `blame run`: loader/audit.c writes it into libblame.so's
 * `blame_launched` when that library is loaded. All zero without the launcher. */
#ifndef BLAME_BASE_LAUNCHED_H
#define BLAME_BASE_LAUNCHED_H

#include <stdint.h>

struct launched {
    uint64_t image_start_ns; /* CLOCK_MONOTONIC, when the loader began with this program */
    uintptr_t loader;        /* in the code of loader/ */
    uint32_t before_main;    /* the program itself needs an OpenMP runtime, which was started before main */
    uint32_t moved;          /* an object that asked for GCC's runtime has got LLVM's */
    uint32_t deprecated;     /* one of these calls what LLVM's comments on, and GCC's does not */
};

extern struct launched blame_launched;

#endif
