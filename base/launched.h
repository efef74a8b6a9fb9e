/* What the dynamic loader tells the tool under `blame run`. layers/loader/audit.c writes it into
 * `blame_launched` of libblame.so when that library is loaded. Without the launcher it is all zero. */
#ifndef BLAME_BASE_LAUNCHED_H
#define BLAME_BASE_LAUNCHED_H

#include <stddef.h>
#include <stdint.h>

/* Files of loaded libraries. The audit library maps each file as its library is loaded, because before the
 * first sample the file may be unlinked, or its path may name another file (/proc/self/fd/N). An entry
 * belongs to whoever changes `state` from THERE by compare and exchange. The audit library makes it FREE to
 * unmap the file. The tool makes it HELD to look at the file, then FREE if it keeps the mapping, or else
 * THERE again. Only the audit library fills FREE entries, under the loader's lock. */
#define LAUNCHED_IMAGES 64
enum launched_image_state { LAUNCHED_FREE, LAUNCHED_THERE, LAUNCHED_HELD };
struct launched_image {
    uint32_t state;
    uintptr_t base; /* load address of the library: address = link-time address + base */
    const void *data;
    size_t bytes;
};

struct launched {
    uint64_t image_start_ns; /* CLOCK_MONOTONIC at the start of the loader for this program */
    uintptr_t loader;        /* an address in the code of layers/loader/ */
    /* 1: the program itself needs an OpenMP runtime, which was started before main */
    uint32_t before_main;
    uint32_t moved; /* 1: an object that asked for GCC's runtime was given LLVM's */
    /* 1: such an object makes calls that LLVM's runtime warns of and GCC's does not */
    uint32_t deprecated;
    struct launched_image *images; /* array of LAUNCHED_IMAGES */
};

extern struct launched blame_launched;

#endif
