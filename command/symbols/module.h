/* A module: its files, and what is known about its code.
 *
 * All pointers that lookups return point into the pool of struct symbols, or into a mapped ELF file that
 * stays open until symbols_close(). So names are never copied twice. All of this runs when the program exits
 * or later, in one thread.
 *
 * Nobody vouches for the files that are read, so every loop over them is bounded by a count and every
 * recursion by a depth. */
#ifndef BLAME_COMMAND_SYMBOLS_MODULE_H
#define BLAME_COMMAND_SYMBOLS_MODULE_H

#include <elfutils/libdw.h>
#include <sys/types.h>

#include "command/symbols/answers.h"
#include "command/symbols/elf.h"

struct profile_module;

#define SYMBOLS_MAX_DEPTH  96         /* nesting of blocks, inlined calls and namespaces that is followed */
#define SYMBOLS_MAX_DIES   (1u << 24) /* entries visited in one walk over a compilation unit */
#define SYMBOLS_MAX_FRAMES 64         /* inlined frames at one address */

struct symbols_function {
    Dwarf_Die die;
    uint32_t enclosing; /* 1 + index of the lexically enclosing function; 0: none */
    uint64_t low;       /* entry; 0: no code of its own (abstract) */
};

struct symbols_unit {
    Dwarf_Die die;     /* the compilation unit, which has line table and language */
    Dwarf_Die content; /* the unit with the functions: the same or the split unit */
    bool indexed;
    const char *lost; /* file of split debug information that could not be read; NULL: nothing is missing */
    struct symbols_function *functions;
    size_t function_count, function_room;
    struct symbols_ranges ranges; /* of functions */
};

struct symbols_ident { /* a string ";file;function;line;column;;" that clang and flang pass to the runtime */
    const char *function;
    int line;
};

struct symbols_bytes { /* contents of a section */
    const uint8_t *data;
    uint64_t vaddr, size;
};

struct symbols_slot { /* an entry of the global offset table */
    uint64_t vaddr;
    const char *name; /* the name whose address the loader stores there */
};

struct symbols_body { /* a construct's function */
    uint64_t entry;
    uint64_t host; /* entry of the function that passes it to the runtime */
    bool task;
};

enum symbols_found { SYMBOLS_SAME_BUILD, SYMBOLS_NO_FILE, SYMBOLS_OTHER_BUILD };

struct symbols_imports { /* the names that the program's own modules import; shared by all modules */
    struct symbols_module *modules;
    size_t module_count;
    bool known;
    struct symbols_map names; /* hash of a name -> anything */
};

struct symbols_module {
    const struct profile_module *record;
    const struct symbols_source *source; /* the stored file of names for the module; NULL: none */
    uint32_t id;
    pid_t running; /* process that may be the measured one and still run; 0: none */
    struct pool *pool;
    const char *measurement; /* measurement beside which copies of deleted libraries may be; NULL: unknown */
    struct symbols_imports *imports;
    const char *base_name;
    enum symbols_found found; /* once opened */
    /* hexadecimal build id of the current file if it is another build; "" if none */
    const char *build_now;
    bool unnamed;           /* some question about the module had no answer */
    const char *split_lost; /* missing file of the first unit that was asked about */
    size_t split_lost_count;
    bool opened, debug_info_sought, dwarf_tried, units_known, functions_known, objects_known, idents_known, slots_known,
        bodies_known, handed_known, launches_known, launches;
    /* the module, its debug file, and the file into which dwz moved shared information */
    struct symbols_elf main, debug, alternate;
    const struct symbols_elf *debug_info; /* main or debug, whichever has debug information */
    Dwarf *dwarf, *alternate_dwarf;
    uint64_t code_low, code_high;
    struct symbols_table functions, objects;
    struct symbols_unit *units;
    size_t unit_count, unit_room;
    struct symbols_ranges unit_ranges;
    struct symbols_map names; /* address of an entry in .debug_info -> struct symbols_name */
    struct symbols_map paths; /* a file name from libdw -> the name with the unit's directory */
    struct symbols_ident *idents;
    size_t ident_count, ident_room;
    struct symbols_slot *slots; /* by vaddr */
    size_t slot_count, slot_room;
    struct symbols_map calls;   /* entry of a function -> struct symbols_call_list */
    struct symbols_map sites;   /* return address - 1 -> struct symbol_call */
    struct symbols_map exports; /* hash of a name -> its function */
    uint64_t *bodies;           /* keys of the outlined functions */
    size_t body_count, body_room;
    struct symbols_body *handed; /* functions that the code passes to the OpenMP runtime, sorted by entry */
    size_t handed_count, handed_room;
    bool unwind_known;
    struct symbols_bytes unwind_header, unwind_frames; /* sections .eh_frame_hdr and .eh_frame */
    size_t unwind_count;
};

/* Opens the module's file at the first call. Returns false if there is none, or if it is another build. */
bool symbols_module_open(struct symbols_module *module);
/* Records the file of an open module and its size and time. */
void symbols_module_stat(const struct symbols_module *module, struct symbols_source *source);
enum symbols_level symbols_module_level(struct symbols_module *module);
const char *symbols_hex(struct pool *pool, const void *data, size_t bytes); /* digits. */
/* Returns NULL if there is no debug information. */
Dwarf *symbols_module_dwarf(struct symbols_module *module);
void symbols_module_close(struct symbols_module *module);
const struct symbols_entry *symbols_module_function(struct symbols_module *module, uint64_t vaddr);
const struct symbols_entry *symbols_module_object(struct symbols_module *module, uint64_t vaddr);
/* Replaces /usr/lib/debug in tests; NULL restores it. */
void symbols_module_debug_root(const char *directory);

#endif
