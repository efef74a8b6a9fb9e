/* Information that libblame-loader.so passes to libblame.so under `blame run`. layers/loader/audit.c writes
 * it into `blame_launched` when libblame.so is loaded. Without `blame run` it is all zero. */
#ifndef BLAME_BASE_LAUNCHED_H
#define BLAME_BASE_LAUNCHED_H

#include <stddef.h>
#include <stdint.h>

/* With glibc before 2.35, each call through the procedure linkage table costs 20 ns beside an audit library, unless the
 * loader binds it at the start. So `blame run` sets this variable to this value there. */
#define BIND_NOW      "LD_BIND_NOW"
#define BIND_NOW_OURS "blame"

/* Files of loaded libraries. libblame-loader.so maps each file when its library is loaded, because before the
 * first sample the file may be deleted, or its path may lead to another file (/proc/self/fd/N). Whichever
 * library changes `state` from THERE, by compare and exchange, owns the entry. libblame-loader.so changes it
 * to FREE to unmap the file. libblame.so changes it to HELD to examine the file, then to FREE if it keeps the
 * mapping, otherwise back to THERE. Only libblame-loader.so uses FREE entries, under the loader's lock. */
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
    /* 1: the program itself needs an OpenMP runtime, which was therefore started before main */
    uint32_t before_main;
    uint32_t moved;    /* 1: an object that needs libgomp was given libomp */
    uint32_t reported; /* 1: an object that needs libgomp was given a library that reports libgomp's events */
    /* 1: such an object calls functions for which libomp prints a deprecation warning and libgomp does not */
    uint32_t deprecated;
    uint32_t opened;               /* number of objects that the loader has opened until now */
    struct launched_image *images; /* array of LAUNCHED_IMAGES entries */
    /* loads libblame-pthreads.so, which calls that create threads then reach, and returns its PTHREADS_LAYER_ATTACH, or 0 */
    uintptr_t (*load_layer)(void);
    /* lets calls of locks reach it, too */
    void (*divert)(void);
};

extern struct launched blame_launched;

#endif
