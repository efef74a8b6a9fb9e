/* A module: its files, and what is known about its code.
 *
 * All pointers that lookups return point into the pool of struct symbols, or into an ELF file that stays
 * mapped until symbols_close(). Therefore, names are never copied twice. All of this runs when the program
 * exits or later, in one thread.
 *
 * The files may be damaged, so every loop over them is limited by a count and every recursion by a depth. */
#ifndef BLAME_COMMAND_SYMBOLS_MODULE_H
#define BLAME_COMMAND_SYMBOLS_MODULE_H

#include <elfutils/libdw.h>
#include <sys/types.h>

#include "command/symbols/answers.h"
#include "command/symbols/elf.h"

struct profile_module;

/* maximum depth of blocks, inlined calls and namespaces that are followed */
#define SYMBOLS_MAX_DEPTH 96
/* maximum number of entries visited in one walk over a compilation unit */
#define SYMBOLS_MAX_DIES   (1u << 24)
#define SYMBOLS_MAX_FRAMES 64 /* maximum number of inlined frames at one address */

struct symbols_function {
    Dwarf_Die die;
    uint32_t enclosing; /* 1 + index of the function whose DWARF entry encloses this one; 0: none */
    uint64_t low;       /* entry address; 0: the function has no code of its own (abstract) */
};

struct symbols_unit {
    Dwarf_Die die;     /* the compilation unit, which has the line table and the language */
    Dwarf_Die content; /* the unit that contains the functions: the same one, or the split unit */
    bool indexed;
    /* name of a file with split debug information that cannot be read; NULL: nothing is missing */
    const char *lost;
    struct symbols_function *functions;
    size_t function_count, function_room;
    struct symbols_ranges ranges; /* code ranges of the functions */
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
    const char *name; /* name of the function whose address the loader stores there */
};

struct symbols_body { /* a construct's outlined function */
    uint64_t entry;
    uint64_t host; /* entry of the function that passes it to the runtime */
    bool task;
};

enum symbols_found { SYMBOLS_SAME_BUILD, SYMBOLS_NO_FILE, SYMBOLS_OTHER_BUILD };

struct symbols_imports { /* names that the program's own modules import; shared by all modules */
    struct symbols_module *modules;
    size_t module_count;
    bool known;
    struct symbols_map names; /* hash of a name -> any pointer */
};

struct symbols_module {
    const struct profile_module *record;
    /* the file from which the stored answers about this module come; NULL: no answers are stored */
    const struct symbols_source *source;
    uint32_t id;
    pid_t running; /* process that may be the measured one and still running; 0: none */
    struct pool *pool;
    /* path of the measurement file, beside which copies of deleted libraries may be; NULL: unknown */
    const char *measurement;
    struct symbols_imports *imports;
    const char *base_name;
    enum symbols_found found; /* valid once the module was opened */
    /* build id of the file on disk, in hexadecimal, if it is another build; "": it has none */
    const char *build_now;
    bool unnamed;           /* whether some question about the module had no answer */
    const char *split_lost; /* name of the first missing .dwo file that was needed */
    size_t split_lost_count;
    bool opened, debug_info_sought, dwarf_tried, units_known, functions_known, objects_known, idents_known, slots_known,
        bodies_known, handed_known, launches_known, launches;
    /* the module, its debug file, and the file into which dwz moved shared parts */
    struct symbols_elf main, debug, alternate;
    const struct symbols_elf *debug_info; /* main or debug, whichever contains debug information */
    Dwarf *dwarf, *alternate_dwarf;
    uint64_t code_low, code_high;
    struct symbols_table functions, objects;
    struct symbols_unit *units;
    size_t unit_count, unit_room;
    struct symbols_ranges unit_ranges;
    struct symbols_map names; /* address of a DWARF entry, or of a symbol's name -> struct symbols_name */
    struct symbols_map paths; /* file name from libdw -> path including the unit's directory */
    struct symbols_ident *idents;
    size_t ident_count, ident_room;
    struct symbols_slot *slots; /* sorted by vaddr */
    size_t slot_count, slot_room;
    struct symbols_map calls;   /* entry address of a function -> struct symbols_call_list */
    struct symbols_map sites;   /* return address - 1 -> struct symbol_call */
    struct symbols_map exports; /* hash of a name -> 1 + entry address of the function */
    uint64_t *bodies;           /* entries of the outlined functions, as keys */
    size_t body_count, body_room;
    /* functions that the module's code passes to the OpenMP runtime, sorted by entry */
    struct symbols_body *handed;
    size_t handed_count, handed_room;
    bool unwind_known;
    /* contents of the sections .eh_frame_hdr and .eh_frame */
    struct symbols_bytes unwind_header, unwind_frames;
    size_t unwind_count;
};

/* Opens the module's file at the first call. Returns false if there is none, or if it is another build. */
bool symbols_module_open(struct symbols_module *module);
/* Fills in the size and time of an open module's file. */
void symbols_module_stat(const struct symbols_module *module, struct symbols_source *source);
enum symbols_level symbols_module_level(struct symbols_module *module);
const char *symbols_hex(struct pool *pool, const void *data, size_t bytes); /* returns lower-case digits */
/* Returns NULL if there is no debug information. */
Dwarf *symbols_module_dwarf(struct symbols_module *module);
void symbols_module_close(struct symbols_module *module);
const struct symbols_entry *symbols_module_function(struct symbols_module *module, uint64_t vaddr);
const struct symbols_entry *symbols_module_object(struct symbols_module *module, uint64_t vaddr);
/* Replaces /usr/lib/debug, for tests. NULL restores it. */
void symbols_module_debug_root(const char *directory);

#endif
