/* What libblame-loader.so tells libblame.so under `blame run`. layers/loader/audit.c writes it into
 * `blame_launched` when libblame.so is loaded. Without `blame run` it is all zero. */
#ifndef BLAME_BASE_LAUNCHED_H
#define BLAME_BASE_LAUNCHED_H

#include <stddef.h>
#include <stdint.h>

/* Files of loaded libraries. libblame-loader.so maps each file as its library is loaded. Before the first
 * sample the file may be deleted, or its path may lead to another file (/proc/self/fd/N). An entry belongs to
 * whoever changes `state` from THERE by compare and exchange. libblame-loader.so changes it to FREE to unmap
 * the file. libblame.so changes it to HELD to examine the file, then to FREE if it keeps the mapping, or back
 * to THERE. Only libblame-loader.so uses FREE entries, under the loader's lock. */
#define LAUNCHED_IMAGES 64
enum launched_image_state { LAUNCHED_FREE, LAUNCHED_THERE, LAUNCHED_HELD };
struct launched_image {
    uint32_t state;
    uintptr_t base; /* load address of the library minus its link-time address */
    const void *data;
    size_t bytes;
};

struct launched {
    uint64_t image_start_ns; /* time on CLOCK_MONOTONIC at which the loader started for this program */
    uintptr_t loader;        /* an address in the code of libblame-loader.so */
    /* 1: the program itself needs an OpenMP runtime, and the runtime was started before main */
    uint32_t before_main;
    uint32_t moved; /* 1: an object that needs libgomp was given libomp */
    /* 1: such an object calls functions for which libomp prints a warning and libgomp does not */
    uint32_t deprecated;
    struct launched_image *images; /* LAUNCHED_IMAGES entries */
};

extern struct launched blame_launched;

#endif
