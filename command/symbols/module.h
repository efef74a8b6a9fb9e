/* A module: its files, and what is known of its code.
 *
 * Every pointer that a lookup hands out lives in the pool of struct symbols or in a mapped ELF file that
 * stays open until symbols_close, so names are never copied twice. All of it runs at exit or offline, in one
 * thread.
 *
 * The files that are read are not ours: each loop over them is bounded by a count, each recursion by a depth. */
#ifndef BLAME_COMMAND_SYMBOLS_MODULE_H
#define BLAME_COMMAND_SYMBOLS_MODULE_H

#include <elfutils/libdw.h>
#include <sys/types.h>

#include "command/symbols/answers.h"
#include "command/symbols/elf.h"

struct profile_module;

#define SYMBOLS_MAX_DEPTH  96         /* nesting of blocks, inlined calls and namespaces that is followed */
#define SYMBOLS_MAX_DIES   (1u << 24) /* entries visited in one walk of one compilation unit */
#define SYMBOLS_MAX_FRAMES 64         /* inlined frames at one address */

struct symbols_function {
    Dwarf_Die die;
    uint32_t enclosing; /* 1 + index of the function that lexically encloses it; 0 none */
    uint64_t low;       /* entry; 0: no code of its own (abstract) */
};

struct symbols_unit {
    Dwarf_Die die;     /* the compilation unit: line table, language */
    Dwarf_Die content; /* where its functions are: the same, or the split unit */
    bool indexed;
    const char *lost; /* the file of split debug information that could not be read; NULL: all is there */
    struct symbols_function *functions;
    size_t function_count, function_room;
    struct symbols_ranges ranges; /* of functions */
};

struct symbols_ident { /* ";file;function;line;column;;", which clang and flang pass to the runtime */
    const char *function;
    int line;
};

struct symbols_bytes { /* contents of a section */
    const uint8_t *data;
    uint64_t vaddr, size;
};

struct symbols_slot { /* of the global offset table */
    uint64_t vaddr;
    const char *name; /* whose address the loader puts there */
};

struct symbols_body { /* a construct's function */
    uint64_t entry;
    uint64_t host; /* entry of the function that hands it to the runtime */
    bool task;
};

enum symbols_found { SYMBOLS_SAME_BUILD, SYMBOLS_NO_FILE, SYMBOLS_OTHER_BUILD };

struct symbols_imports { /* what the program's own modules ask the loader for; one for all modules */
    struct symbols_module *modules;
    size_t module_count;
    bool known;
    struct symbols_map names; /* hash of a name -> anything */
};

struct symbols_module {
    const struct profile_module *record;
    const struct symbols_source *source; /* names are kept of this file; NULL: none */
    uint32_t id;
    pid_t running; /* perhaps the process that was measured; 0: it is gone */
    struct pool *pool;
    const char *measurement; /* beside which files of libraries that had gone may be; NULL: not known */
    struct symbols_imports *imports;
    const char *base_name;
    enum symbols_found found; /* once opened */
    const char *build_now;    /* digits of another build's id; "" none */
    bool unnamed;             /* something was asked that nobody could tell */
    const char *split_lost;   /* the first unit's lost file, of units that something was asked of */
    size_t split_lost_count;
    bool opened, debug_info_sought, dwarf_tried, units_known, functions_known, objects_known, idents_known, slots_known,
        bodies_known, handed_known, launches_known, launches;
    struct symbols_elf main, debug, alternate; /* the module; its debug file; what dwz moved out of that */
    const struct symbols_elf *debug_info;      /* main or debug, which has it */
    Dwarf *dwarf, *alternate_dwarf;
    uint64_t code_low, code_high;
    struct symbols_table functions, objects;
    struct symbols_unit *units;
    size_t unit_count, unit_room;
    struct symbols_ranges unit_ranges;
    struct symbols_map names; /* entry address in .debug_info -> struct symbols_name */
    struct symbols_map paths; /* a file name as libdw gives it -> the same with the unit's folder */
    struct symbols_ident *idents;
    size_t ident_count, ident_room;
    struct symbols_slot *slots; /* by vaddr */
    size_t slot_count, slot_room;
    struct symbols_map calls;   /* entry of a function -> struct symbols_call_list */
    struct symbols_map sites;   /* a return address - 1 -> struct symbol_call */
    struct symbols_map exports; /* hash of a name -> its function */
    uint64_t *bodies;           /* keys of the functions that compilers outlined */
    size_t body_count, body_room;
    struct symbols_body *handed; /* functions that the code hands to the OpenMP runtime, by entry */
    size_t handed_count, handed_room;
    bool unwind_known;
    struct symbols_bytes unwind_header, unwind_frames; /* .eh_frame_hdr, .eh_frame */
    size_t unwind_count;
};

/* Opens the module's file on first use; false: there is none, or it is another build. */
bool symbols_module_open(struct symbols_module *module);
/* Of an open module: its file, and how much that knows. */
void symbols_module_stat(const struct symbols_module *module, struct symbols_source *source);
enum symbols_level symbols_module_level(struct symbols_module *module);
const char *symbols_hex(struct pool *pool, const void *data, size_t bytes); /* digits. */
Dwarf *symbols_module_dwarf(struct symbols_module *module);                 /* NULL: no debug information. */
void symbols_module_close(struct symbols_module *module);
const struct symbols_entry *symbols_module_function(struct symbols_module *module, uint64_t vaddr);
const struct symbols_entry *symbols_module_object(struct symbols_module *module, uint64_t vaddr);
/* For tests: another directory in the place of /usr/lib/debug; NULL restores it. */
void symbols_module_debug_root(const char *directory);

#endif
