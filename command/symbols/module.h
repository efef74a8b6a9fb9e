/* A module of the program: its files, and what is known about its code.
 *
 * All pointers that a lookup returns point to the pool of struct symbols, or to an ELF file that stays mapped
 * until symbols_close(). No name is therefore copied twice. All of this runs in one thread, when the program
 * exits or later.
 *
 * The files may be damaged, so every loop over them has a maximum count, and every recursion a maximum depth. */
#ifndef BLAME_COMMAND_SYMBOLS_MODULE_H
#define BLAME_COMMAND_SYMBOLS_MODULE_H

#include <elfutils/libdw.h>
#include <sys/types.h>

#include "command/symbols/answers.h"
#include "command/symbols/elf.h"

struct profile_module;

/* maximum depth to which blocks, inlined calls and namespaces are followed */
#define SYMBOLS_MAX_DEPTH 96
/* maximum number of DWARF entries visited in one walk over a compilation unit */
#define SYMBOLS_MAX_DIES   (1u << 24)
#define SYMBOLS_MAX_FRAMES 64 /* maximum number of inlined frames found at one address */

struct symbols_function {
    Dwarf_Die die;
    /* 1 + the index of the function whose DWARF entry contains this function's entry; 0: none */
    uint32_t enclosing;
    uint64_t low; /* entry address; 0: an abstract function, which has no code of its own */
};

struct symbols_unit {
    Dwarf_Die die; /* DWARF entry of the compilation unit, which has the line table and the language */
    /* DWARF entry of the unit that contains the functions, which is `die` or the split unit */
    Dwarf_Die content;
    bool indexed;
    /* name of a file with split debug information that could not be read; NULL: nothing is missing */
    const char *lost;
    struct symbols_function *functions;
    size_t function_count, function_room;
    struct symbols_ranges ranges; /* code ranges of the unit's functions */
};

/* A string ";file;function;line;column;;" that code compiled by clang or flang passes to the runtime. */
struct symbols_ident {
    const char *function;
    int line;
};

struct symbols_bytes { /* The contents of a section. */
    const uint8_t *data;
    uint64_t vaddr, size;
};

struct symbols_slot { /* A slot of the global offset table. */
    uint64_t vaddr;
    const char *name; /* name of the function whose address the loader stores in the slot */
};

struct symbols_body { /* The function that a compiler outlined from a construct. */
    uint64_t entry;
    uint64_t host; /* entry of the function that passes the outlined function to the runtime */
    bool task;
};

enum symbols_found { SYMBOLS_SAME_BUILD, SYMBOLS_NO_FILE, SYMBOLS_OTHER_BUILD };

struct symbols_imports { /* The names that the program's own modules import. All modules share them. */
    struct symbols_module *modules;
    size_t module_count;
    bool known;
    struct symbols_map names; /* a set: the hash of each name is a key, and the pointers have no meaning */
};

struct symbols_module {
    const struct profile_module *record;
    /* file from which the stored answers about the module were made; NULL: no answers are stored */
    const struct symbols_source *source;
    uint32_t id;
    pid_t running; /* process that may be the measured one and may still run; 0: none */
    struct pool *pool;
    /* path of the measurement file; copies of deleted libraries may be beside it; NULL: unknown */
    const char *measurement;
    struct symbols_imports *imports;
    const char *base_name;
    enum symbols_found found; /* result of opening the module's file; valid once it was tried */
    /* build id of the file on disk in hexadecimal, if the file is another build than the measured one; "": it
     * has no build id */
    const char *build_now;
    bool unnamed;           /* whether any question about the module could not be answered */
    const char *split_lost; /* name of the first .dwo file that was needed but is missing */
    size_t split_lost_count;
    bool opened, debug_info_sought, dwarf_tried, units_known, functions_known, objects_known, idents_known, slots_known,
        bodies_known, handed_known, launches_known, launches;
    /* the module's own file, its debug file, and the file to which dwz moved what several debug files have in
     * common */
    struct symbols_elf main, debug, alternate;
    const struct symbols_elf *debug_info; /* `main` or `debug`, whichever contains the debug information */
    Dwarf *dwarf, *alternate_dwarf;
    uint64_t code_low, code_high;
    struct symbols_table functions, objects;
    struct symbols_unit *units;
    size_t unit_count, unit_room;
    struct symbols_ranges unit_ranges;
    /* a struct symbols_name for the address of each DWARF entry, and for the address of each symbol's name */
    struct symbols_map names;
    struct symbols_map paths; /* for each file name from libdw, the path that includes the unit's directory */
    struct symbols_ident *idents;
    size_t ident_count, ident_room;
    struct symbols_slot *slots; /* slots, sorted by address */
    size_t slot_count, slot_room;
    struct symbols_map calls;   /* a struct symbols_call_list for each function's entry address */
    struct symbols_map sites;   /* a struct symbol_call for each return address - 1 */
    struct symbols_map exports; /* 1 + the entry address of a function, for the hash of each name */
    uint64_t *bodies;           /* entries of the module's outlined functions, as keys */
    size_t body_count, body_room;
    /* functions that code of the module passes to the OpenMP runtime, sorted by entry */
    struct symbols_body *handed;
    size_t handed_count, handed_room;
    bool unwind_known;
    /* contents of the sections .eh_frame_hdr and .eh_frame */
    struct symbols_bytes unwind_header, unwind_frames;
    size_t unwind_count;
};

/* Opens the module's file at the first call. Returns false if there is no file, or if it is not the measured
 * build. */
bool symbols_module_open(struct symbols_module *module);
/* Stores the size and the time of an open module's file in `source`. */
void symbols_module_stat(const struct symbols_module *module, struct symbols_source *source);
enum symbols_level symbols_module_level(struct symbols_module *module);
/* Returns the bytes as lower-case hexadecimal digits, in the pool. */
const char *symbols_hex(struct pool *pool, const void *data, size_t bytes);
/* Returns the module's debug information, or NULL if there is none. */
Dwarf *symbols_module_dwarf(struct symbols_module *module);
void symbols_module_close(struct symbols_module *module);
const struct symbols_entry *symbols_module_function(struct symbols_module *module, uint64_t vaddr);
const struct symbols_entry *symbols_module_object(struct symbols_module *module, uint64_t vaddr);
/* Sets the directory that is searched for debug files in place of /usr/lib/debug, for tests. NULL:
 * /usr/lib/debug again. */
void symbols_module_debug_root(const char *directory);

#endif
