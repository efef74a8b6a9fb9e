/* The files that code comes from. A module keeps its number for the whole run, also when it is unloaded and
 * loaded again elsewhere; keys of samples are (module, link-time address) and stay true. Another build is
 * another module, whatever its path and wherever it is loaded. The bytes that unwinding needs of a module are
 * mapped from its file a second time, so that dlclose() cannot take them away under a handler (guarantee
 * L2). */
#ifndef BLAME_UNWIND_MODULES_H
#define BLAME_UNWIND_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/debug_frame.h"

#define LOADMAP_MAX_MODULES   4096u
#define LOADMAP_MAX_FUNCTIONS 3072u /* of these: libraries that come later must have room, too */
#define MODULE_MAX_CODE       4u

struct loadmap_module {
    uintptr_t load_bias; /* when last seen */
    uintptr_t vaddr_low, vaddr_high;
    uintptr_t first_vaddr; /* link-time address of the file's first byte */
    struct {
        uintptr_t start, end; /* link-time range of an executable segment */
    } code[MODULE_MAX_CODE];
    uintptr_t eh_frame_header; /* link-time address, 0 if there is none */
    uintptr_t eh_frame_header_bytes;
    uintptr_t view_vaddr; /* link-time range of the segment with the unwind tables ... */
    uintptr_t view_bytes;
    const char *view; /* ... and its bytes: the second mapping */
    struct debug_frame debug_frame;
    uint32_t flags; /* enum profile_module_flag */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    uintptr_t mark_vaddr; /* link-time address of the bytes that tell it from another build ... */
    uint32_t mark_bytes;
    const void *mark;    /* ... and these: the build id, or else what the file begins with */
    uint64_t first_hash; /* of what the file begins with */
    const char *image;   /* all of its file, mapped; NULL: it is large, or was gone when it was first seen */
    size_t image_bytes;
    const char *path;
    const char *function; /* PROFILE_MODULE_PYTHON: its name; the path is its file's, and its lines are its addresses */
};

/* A function in another language, whose code is no file's. It is a module of its own: link-time addresses are its lines. */
struct module_function {
    uint64_t digest; /* of all that tells it from others */
    uint32_t first_line;
    const char *path, *name;
};

/* Where a module's first byte is mapped, and what its file is called. */
struct module_place {
    uintptr_t start;
    uintptr_t name;   /* address of the loader's string: the path as it was asked for, "" for the program; or 0 */
    const char *path; /* as /proc/self/maps has it, or NULL */
};

bool modules_init(void); /* [init] */

struct launched_image;
/* The files of libraries that the launcher's part in the loader maps as it loads them (base/launched.h); NULL: there is none. [init] */
void modules_launched(struct launched_image *images);

/* What comes from here on may come in a handler: less is read of it. [init] */
void modules_started(void);
void modules_forked(void); /* in a child: a parent's thread may have been adding one [init] */

/* The number of the module that is mapped there, a new one if it was never seen before; 0: it is no ELF
 * file's, has no path yet, or there is no room. [handler] */
uint32_t module_number(const struct module_place *place);

/* The same of a function; 0: there is no room, or a thread that adds a module has lost its core. [handler] */
uint32_t module_function(const struct module_function *function);

/* The module with that number, or NULL. [handler] */
const struct loadmap_module *loadmap_module(uint32_t module_id);
uint32_t loadmap_module_count(void); /* [handler] */

/* Adds flags to a module. [init] */
void module_flag(uint32_t module_id, uint32_t flags);

#endif
