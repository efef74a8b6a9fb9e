/* The files that contain code. A module keeps its number during the whole run, even if it is unloaded and
 * loaded again at another address. Samples are stored by module and link-time address, so they stay valid.
 * Another build of a library is another module, even if its path is the same. The parts of a file that
 * unwinding needs are mapped a second time, so that dlclose() cannot unmap them while a handler reads them
 * (guarantee L2). */
#ifndef BLAME_UNWIND_MODULES_H
#define BLAME_UNWIND_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/debug_frame.h"

#define LOADMAP_MAX_MODULES 4096u
/* maximum number of functions (struct module_function) in the list of modules; the rest is left for libraries
 * that are loaded later */
#define LOADMAP_MAX_FUNCTIONS 3072u
#define MODULE_MAX_CODE       4u

struct loadmap_module {
    uintptr_t load_bias; /* run-time address minus link-time address, at the last load */
    uintptr_t vaddr_low, vaddr_high;
    uintptr_t first_vaddr; /* link-time address of the file's first byte */
    struct {
        uintptr_t start, end; /* link-time address range of an executable segment */
    } code[MODULE_MAX_CODE];
    uintptr_t eh_frame_header; /* link-time address of .eh_frame_hdr; 0: none */
    uintptr_t eh_frame_header_bytes;
    uintptr_t view_vaddr; /* link-time address of the segment with the unwind tables (the view) */
    uintptr_t view_bytes;
    const char *view; /* second mapping of that segment, view_bytes long */
    struct debug_frame debug_frame;
    uint32_t flags; /* enum profile_module_flag */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    uintptr_t mark_vaddr; /* link-time address of the `mark` */
    uint32_t mark_bytes;
    /* bytes that distinguish this build from others at the same address: the build id, or the start of the
     * file */
    const void *mark;
    uint64_t first_hash; /* hash of the file's first 1024 bytes */
    /* the whole file, mapped; NULL if it is too large, or was deleted before we first saw it */
    const char *image;
    size_t image_bytes;
    uint64_t file_state; /* of that file, when it was mapped (struct os_file); 0: unknown */
    const char *path;
    /* only for PROFILE_MODULE_PYTHON: name of the function; `path` is then its source file, and its link-time
     * addresses are line numbers */
    const char *function;
};

/* A function of an interpreted language. It is a module of its own, because no file contains machine code for
 * it. Its link-time addresses are line numbers. */
struct module_function {
    uint64_t digest; /* hash of all data that identify the function */
    uint32_t first_line;
    const char *path, *name;
};

/* Where a module is mapped, and what is known about its path. */
struct module_place {
    uintptr_t start;
    /* address of the loader's string with the path under which the file was opened ("" for the program); 0:
     * unknown */
    uintptr_t name;
    const char *path; /* path from /proc/self/maps; NULL: unknown */
};

bool modules_init(void); /* [init] */

struct launched;
/* Sets what libblame-loader.so tells: the library files that it maps while they are being loaded, and how many
 * objects there were (base/launched.h). [init] */
void modules_launched(struct launched *launched);

/* Returns the number of objects that the loader has opened until now; 0 if nobody counts them. [init] */
uint32_t modules_opened(void);

/* Marks the end of the start phase. Later calls may come from a handler, so they read less. [init] */
void modules_started(void);
/* In a forked child: releases the lock, which a thread of the parent may have held. [init] */
void modules_forked(void);

/* Returns the number of the module that is mapped at this place, adding the module if it is new. Returns 0 if
 * it is not an ELF file, if its path is not yet known, or if there is no room. [handler] */
uint32_t module_number(const struct module_place *place);

/* Returns the module number of a function, adding the function if it is new. Returns 0 if there is no room,
 * or if another thread lost its core while it was adding a module. [handler] */
uint32_t module_function(const struct module_function *function);

/* Returns the module with this number; NULL if there is none. [handler] */
const struct loadmap_module *loadmap_module(uint32_t module_id);
uint32_t loadmap_module_count(void); /* [handler] */

/* Sets these flags (base/module_flags.h) for a module. [init] */
void module_flag(uint32_t module_id, uint32_t flags);

#endif
