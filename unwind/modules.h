/* The files that code comes from. A module keeps its number for the whole run, even if it is unloaded and
 * loaded again at another address. Keys of samples are (module, link-time address), so they stay valid.
 * Another build is another module, whatever its path and wherever it is loaded. The parts of a module needed
 * for unwinding are mapped from its file a second time, so that dlclose() cannot unmap them during a handler
 * (guarantee L2). */
#ifndef BLAME_UNWIND_MODULES_H
#define BLAME_UNWIND_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/debug_frame.h"

#define LOADMAP_MAX_MODULES 4096u
/* limit of functions among the modules, which leaves room for later libraries */
#define LOADMAP_MAX_FUNCTIONS 3072u
#define MODULE_MAX_CODE       4u

struct loadmap_module {
    uintptr_t load_bias; /* as last seen */
    uintptr_t vaddr_low, vaddr_high;
    uintptr_t first_vaddr; /* link-time address of the file's first byte */
    struct {
        uintptr_t start, end; /* link-time range of an executable segment */
    } code[MODULE_MAX_CODE];
    uintptr_t eh_frame_header; /* link-time address; 0: none */
    uintptr_t eh_frame_header_bytes;
    uintptr_t view_vaddr; /* link-time range of the segment with the unwind tables */
    uintptr_t view_bytes;
    const char *view; /* bytes of that segment: the second mapping */
    struct debug_frame debug_frame;
    uint32_t flags; /* enum profile_module_flag */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    uintptr_t mark_vaddr; /* link-time address of the bytes that identify the build */
    uint32_t mark_bytes;
    const void *mark;    /* those bytes: the build id, or the start of the file */
    uint64_t first_hash; /* hash of the start of the file */
    /* the whole file, mapped; NULL: it is large, or was deleted before it was first seen */
    const char *image;
    size_t image_bytes;
    const char *path;
    /* PROFILE_MODULE_PYTHON: its name; the path is that of its file, and lines are its addresses */
    const char *function;
};

/* A function in another language, without a file of machine code. It is a module of its own, whose link-time
 * addresses are lines. */
struct module_function {
    uint64_t digest; /* digest of everything that identifies the function */
    uint32_t first_line;
    const char *path, *name;
};

/* The address of a module's first byte, and the name of its file. */
struct module_place {
    uintptr_t start;
    uintptr_t name;   /* address of the loader's string: the path as requested, "" for the program; or 0 */
    const char *path; /* path from /proc/self/maps, or NULL */
};

bool modules_init(void); /* [init] */

struct launched_image;
/* Announces the files of libraries that the audit library maps while they are loaded (base/launched.h); NULL:
 * there are none. [init] */
void modules_launched(struct launched_image *images);

/* Announces that later calls may come from a handler, so less is read. [init] */
void modules_started(void);
/* releases the lock in a child, since a thread of the parent may have held it [init] */
void modules_forked(void);

/* Returns the number of the module mapped there, which is new if the module was never seen; 0 if it is no ELF
 * file, has no path yet, or there is no room. [handler] */
uint32_t module_number(const struct module_place *place);

/* Returns the number of a function; 0 if there is no room, or if a thread that adds a module has lost its
 * core. [handler] */
uint32_t module_function(const struct module_function *function);

/* Returns the module with that number, or NULL. [handler] */
const struct loadmap_module *loadmap_module(uint32_t module_id);
uint32_t loadmap_module_count(void); /* [handler] */

/* Adds flags to a module. [init] */
void module_flag(uint32_t module_id, uint32_t flags);

#endif
