/* What the files of report/symbols/ share. Nothing outside them includes this.
 *
 * Every pointer that a lookup hands out lives in the arena of struct symbols or in a mapped ELF file that
 * stays open until symbols_close, so names are never copied twice. All of it runs at exit or offline, in one
 * thread: [init].
 *
 * The files that are read are not ours: each loop over them is bounded by a count, each recursion by a depth.
 */
#ifndef BLAME_REPORT_SYMBOLS_INTERNAL_H
#define BLAME_REPORT_SYMBOLS_INTERNAL_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cct/pair_map.h"
#include "report/text/grow.h"
#include "report/symbols/symbols.h"

#define SYMBOLS_MAX_DEPTH  48         /* nesting of blocks, inlined calls and namespaces that is followed */
#define SYMBOLS_MAX_DIES   (1u << 24) /* entries visited in one walk of one compilation unit */
#define SYMBOLS_MAX_FRAMES 64         /* inlined frames at one address */

/* ---- memory ---- */

struct symbols_block;
struct symbols_arena {
    struct symbols_block *blocks;
};
void *symbols_arena_alloc(struct symbols_arena *arena,
                          size_t bytes); /* zeroed; NULL: out of memory. [init] */
/* printf into the arena; "" when out of memory. [init] */
const char *symbols_arena_text(struct symbols_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void symbols_arena_free(struct symbols_arena *arena); /* [init] */

struct symbols_map { /* open addressing; a NULL value marks a free slot */
    uint64_t *keys;
    void **values;
    size_t count, room;
};
void *symbols_map_find(const struct symbols_map *map, uint64_t key);      /* [init] */
bool symbols_map_put(struct symbols_map *map, uint64_t key, void *value); /* [init] */
void symbols_map_free(struct symbols_map *map);                           /* [init] */

/* ---- address ranges, sorted ---- */

struct symbols_range {
    uint64_t low, high; /* [low, high) */
    uint64_t
        reach; /* greatest high up to here: a search backward can stop when it is at or below the address */
    uint32_t index; /* whose range it is */
};
struct symbols_ranges {
    struct symbols_range *list;
    size_t count, room;
};
bool symbols_ranges_add(struct symbols_ranges *ranges, uint64_t low, uint64_t high,
                        uint32_t index);                 /* [init] */
void symbols_ranges_sort(struct symbols_ranges *ranges); /* [init] */
/* The smallest range around vaddr; NULL: none. [init] */
const struct symbols_range *symbols_ranges_find(const struct symbols_ranges *ranges, uint64_t vaddr);

/* ---- ELF files and their symbol tables ---- */

struct symbols_elf {
    int fd; /* -1: not open, or in memory */
    Elf *elf;
    void *image; /* a file in memory (the vDSO), freed with it */
    const char *path;
};
bool symbols_elf_open(struct symbols_elf *file, const char *path); /* regular ELF files only. [init] */
bool symbols_elf_open_vdso(struct symbols_elf *file);              /* this process's own vDSO. [init] */
void symbols_elf_close(struct symbols_elf *file);                  /* [init] */
Elf_Scn *symbols_elf_section(Elf *elf, const char *name, GElf_Shdr *header); /* [init] */
bool symbols_elf_same_build(Elf *elf, const void *build_id, size_t bytes);   /* [init] */
bool symbols_elf_code_range(Elf *elf, uint64_t *low, uint64_t *high);        /* executable segments. [init] */
/* x86-64 code or data at vaddr, *room bytes up to the end of their segment in the file; NULL: none. [init] */
const uint8_t *symbols_elf_bytes(Elf *elf, uint64_t vaddr, size_t *room);

struct symbols_entry {
    uint64_t start, size;
    const char *name;
    uint8_t rank; /* among names of one address the lowest wins */
};
struct symbols_table {
    struct symbols_entry *list;
    size_t count, room;
};
enum symbols_table_kind { SYMBOLS_FUNCTIONS, SYMBOLS_OBJECTS };
void symbols_table_add(struct symbols_table *table, Elf *elf, enum symbols_table_kind kind); /* [init] */
void symbols_table_sort(struct symbols_table *table);                                        /* [init] */
const struct symbols_entry *symbols_table_find(const struct symbols_table *table,
                                               uint64_t vaddr); /* [init] */

/* ---- answers: what was asked, kept beside the measurement ---- */

enum symbols_question {
    SYMBOLS_ASK_FRAMES, /* of a key */
    SYMBOLS_ASK_ENTRY,  /* of the function around a key */
    SYMBOLS_ASK_CALL,   /* at a key */
    SYMBOLS_ASK_DATA,   /* the object at a key */
    SYMBOLS_QUESTIONS
};

struct symbols_answer {
    bool asked;   /* not by a search for tail calls alone: to be kept */
    size_t count; /* frames; ENTRY, CALL and DATA: 0 none */
    union {
        const struct symbol_frame *frames;
        uint64_t entry;
        const struct symbol_call *call;
        const char *text;
    };
};

struct symbols_gap {
    uint64_t caller, goal;
    size_t count;
    const struct tail_frame *frames;
};

struct symbols_source { /* the file that answers about a module came from */
    bool named;         /* there are answers */
    uint8_t level;      /* enum symbols_level */
    uint64_t size;
    int64_t mtime_ns;
};

/* How much a file knows of names. */
enum symbols_level { SYMBOLS_LEVEL_EXPORTS, SYMBOLS_LEVEL_SYMBOLS, SYMBOLS_LEVEL_DEBUG };

struct symbols_answers {
    struct symbols_map map[SYMBOLS_QUESTIONS];
    struct pair_map gap_map; /* (caller, goal) -> index in gaps */
    struct symbols_gap *gaps;
    size_t gap_count, gap_room;
    struct symbols_source *sources; /* by module id - 1 */
    size_t module_count;
};

/* The file of answers, docs/format.md: bytes in memory, malloc'ed; NULL: no memory. [init] */
uint8_t *symbols_file_encode(const struct symbols_answers *answers, const struct profile_header *header,
                             size_t *bytes);
/* Adds what a file says of modules that `wanted` says yes to, once answers->sources is filled. bytes must
 * stay as they are for as long as the answers. NULL, or why the file cannot be used. [init] */
const char *symbols_file_decode(struct symbols_answers *answers, struct symbols_arena *arena,
                                const struct profile_header *header, const uint8_t *bytes, size_t count,
                                bool (*wanted)(void *context, uint32_t module_id, bool same_tool),
                                void *context);
/* A new answer, all zero; NULL: no memory. [init] */
struct symbols_answer *symbols_answers_add(struct symbols_answers *answers, struct symbols_arena *arena,
                                           enum symbols_question question, uint64_t key);
/* frames must live as long; false: no memory. [init] */
bool symbols_answers_add_gap(struct symbols_answers *answers, const struct symbols_gap *gap);
void symbols_answers_free(struct symbols_answers *answers); /* [init] */

/* ---- modules ---- */

struct symbols_function {
    Dwarf_Die die;
    uint32_t enclosing; /* 1 + index of the function that lexically encloses it; 0 none */
    uint64_t low;       /* entry; 0: no code of its own (abstract) */
};

struct symbols_launch { /* an outlined function that a call site passes to GOMP_* */
    uint64_t function;
    bool task;
};

struct symbols_unit {
    Dwarf_Die die;     /* the compilation unit: line table, language */
    Dwarf_Die content; /* where its functions are: the same, or the split unit */
    bool indexed, launches_known;
    struct symbols_function *functions;
    size_t function_count, function_room;
    struct symbols_ranges ranges; /* of functions */
    struct symbols_launch *launches;
    size_t launch_count, launch_room;
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

enum symbols_found { SYMBOLS_SAME_BUILD, SYMBOLS_NO_FILE, SYMBOLS_OTHER_BUILD };

struct symbols_module {
    const struct profile_module *record;
    const struct symbols_source *source; /* names are kept of this file; NULL: none */
    uint32_t id;
    pid_t running; /* perhaps the process that was measured; 0: it is gone */
    struct symbols_arena *arena;
    const char *base_name;
    enum symbols_found found; /* once opened */
    const char *build_now;    /* digits of another build's id; "" none */
    bool unnamed;             /* something was asked that nobody could tell */
    bool opened, dwarf_tried, units_known, functions_known, objects_known, idents_known, slots_known,
        bodies_known;
    struct symbols_elf main, debug, alternate; /* the module; its debug file; what dwz moved out of that */
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
    bool unwind_known;
    struct symbols_bytes unwind_header, unwind_frames; /* .eh_frame_hdr, .eh_frame */
    size_t unwind_count;
};

/* Opens the module's file on first use; false: there is none, or it is another build. [init] */
bool symbols_module_open(struct symbols_module *module);
/* Of an open module: its file, and how much that knows. [init] */
void symbols_module_stat(const struct symbols_module *module, struct symbols_source *source);
enum symbols_level symbols_module_level(struct symbols_module *module);               /* [init] */
const char *symbols_hex(struct symbols_arena *arena, const void *data, size_t bytes); /* digits. [init] */
Dwarf *symbols_module_dwarf(struct symbols_module *module); /* NULL: no debug information. [init] */
void symbols_module_close(struct symbols_module *module);   /* [init] */
const struct symbols_entry *symbols_module_function(struct symbols_module *module,
                                                    uint64_t vaddr);                              /* [init] */
const struct symbols_entry *symbols_module_object(struct symbols_module *module, uint64_t vaddr); /* [init] */
/* Entry of the function around vaddr by the unwind tables; false: not known. [init] */
bool symbols_unwind_start(struct symbols_module *module, uint64_t vaddr, uint64_t *start);
/* For tests: another directory in the place of /usr/lib/debug; NULL restores it. [init] */
void symbols_module_debug_root(const char *directory);

/* The module with this id; NULL: none. [init] */
struct symbols_module *symbols_module_of(struct symbols *symbols, uint32_t module_id);

struct symbols {
    struct symbols_arena arena;
    struct symbols_module *modules;
    size_t module_count;
    struct symbols_answers answers;
    bool searching; /* for tail calls */
    bool news;      /* answers that are to be kept and are not in the file yet */
    uint8_t *file;  /* which the answers point into */
};

/* ---- DWARF ---- */

/* The compilation unit around vaddr, its functions indexed; NULL: none. [init] */
struct symbols_unit *symbols_dwarf_unit(struct symbols_module *module, uint64_t vaddr);
struct symbols_function *symbols_dwarf_function(struct symbols_unit *unit,
                                                uint64_t vaddr); /* NULL: none. [init] */
void symbols_dwarf_close(struct symbols_module *module);         /* [init] */
/* Whether a call site passes the function at `entry` to libgomp: 1 as a task, 0 as a region, -1 nothing
 * known. [init] */
int symbols_dwarf_launch(struct symbols_unit *unit, uint64_t entry);
/* The next sibling; false at the end, and on entries that would lead backward. [init] */
bool symbols_dwarf_next(Dwarf_Die *die);

struct symbols_name {
    const char *raw;     /* linkage name if there is one; "" unknown */
    const char *display; /* demangled or qualified; "" unknown */
    const char *file;    /* definition; "" unknown */
    int line;
    bool linkage; /* raw is a linkage name */
};
/* Linkage name, else name, of a subprogram through its origin; "" none. Cheap: nothing is demangled. [init]
 */
const char *symbols_dwarf_raw(Dwarf_Die *die, bool *linkage);
const char *symbols_dwarf_file(Dwarf_Die *die); /* where it is declared; "" unknown. [init] */
/* Name and definition of a subprogram or inlined subroutine, through its origin; cached. [init] */
const struct symbols_name *symbols_dwarf_name(struct symbols_module *module, Dwarf_Die *die);

struct symbols_position {
    const char *file; /* "" unknown */
    int line;         /* 0 unknown */
};
/* The source position of vaddr. Code that belongs to no line (line 0) gets the line before it, not further
 * back than `low`, the function's start. [init] */
struct symbols_position symbols_lines_at(struct symbols_unit *unit, uint64_t vaddr, uint64_t low);
/* The line of the first row of a function: compilers that outline put the construct's line there. [init] */
struct symbols_position symbols_lines_entry(struct symbols_unit *unit, uint64_t low);
const char *symbols_lines_file(struct symbols_unit *unit, uint64_t file_number); /* "" unknown. [init] */
/* Start addresses of the code of one source line, at most room of them. [init] */
size_t symbols_lines_find(struct symbols_unit *unit, const char *file, int line, uint64_t *vaddrs,
                          size_t room);
/* The smallest line in [least, ...) among the rows of [low, high); 0: none. [init] */
int symbols_lines_least(struct symbols_unit *unit, uint64_t low, uint64_t high, int least);

/* ---- machine code ---- */

enum symbols_flow {
    SYMBOLS_NEXT,   /* on to the next instruction */
    SYMBOLS_CALL,   /* the same, after a call */
    SYMBOLS_JUMP,   /* away */
    SYMBOLS_BRANCH, /* away or on */
    SYMBOLS_END,    /* return, trap */
};
struct symbols_instruction {
    size_t bytes;
    enum symbols_flow flow;
    bool indirect;   /* call or jump through a register or memory */
    uint64_t target; /* of a call, jump or branch; indirect: where the address is stored, 0 unknown */
    int8_t to, from; /* register `to` gets `value`, or what register `from` has; -1: no such thing */
    uint64_t value;
    uint32_t written; /* set of registers that may have changed, `to` among them */
};
bool symbols_decode(const uint8_t *code, size_t room, uint64_t vaddr,
                    struct symbols_instruction *result); /* false: not understood. [init] */

/* ---- calls ---- */

struct symbols_call_list {
    struct symbol_call *list;
    size_t count, room;
};
/* Entry of the function around vaddr, also from its cold part; 0: not known. [init] */
uint64_t symbols_calls_entry(struct symbols_module *module, uint64_t vaddr);
/* Calls and tail calls of the function at `entry`; NULL: none known. Cached. [init] */
const struct symbols_call_list *symbols_calls_of(struct symbols_module *module, uint64_t entry);
/* The call that returns to vaddr + 1; NULL: not known. Cached. [init] */
const struct symbol_call *symbols_calls_at(struct symbols_module *module, uint64_t vaddr);
/* Adds to `list`, with the addresses in struct symbol_call not yet keys, what DWARF says of the call sites of
 * a function: whom indirect calls go to, and which indirect jumps are calls. [init] */
void symbols_calls_dwarf(struct symbols_module *module, struct symbols_function *function,
                         struct symbols_call_list *list);
/* The function with this name that other modules bind to, else the only one with it; 0: none, or chosen by
 * the loader among several (IFUNC). [init] */
uint64_t symbols_calls_named(struct symbols_module *module, const char *name);
/* The name behind a stub of the procedure linkage table at vaddr, or NULL; and behind a slot of the global
 * offset table. [init] */
const char *symbols_plt_stub(struct symbols_module *module, uint64_t vaddr);
const char *symbols_plt_slot(struct symbols_module *module, uint64_t slot);
/* Whether some call hands the function at `entry` to libgomp: as symbols_dwarf_launch. [init] */
int symbols_calls_launch(struct symbols_module *module, struct symbols_unit *unit, uint64_t entry);
/* Functions that compilers outlined from constructs, by the symbol table. [init] */
size_t symbols_calls_bodies(struct symbols_module *module, const uint64_t **keys);

/* ---- frames ---- */

struct symbols_raw { /* one function at an address, before constructs are recognised */
    const struct symbols_name *name;
    struct symbols_position at;
    uint64_t low; /* entry of the function (of the inlined copy) */
    bool inlined;
};
/* Functions at vaddr by DWARF, innermost first, at most SYMBOLS_MAX_FRAMES; 0: none. *unit, *function: where
 * they were found, or NULL. [init] */
size_t symbols_inline_chain(struct symbols_module *module, uint64_t vaddr, struct symbols_raw *raws,
                            struct symbols_unit **unit, struct symbols_function **function);
/* The name of a symbol of the symbol table; cached; NULL: out of memory. [init] */
const struct symbols_name *symbols_frames_symbol(struct symbols_module *module, const char *symbol);
/* The frames of a lookup; at least 1, in the arena; 0: out of memory. [init] */
size_t symbols_frames_build(struct symbols_module *module, uint64_t vaddr, struct symbol_frame **frames);

/* ---- constructs ---- */

enum symbols_compiler { SYMBOLS_CLANG, SYMBOLS_GCC, SYMBOLS_FLANG, SYMBOLS_INTEL };

struct symbols_outlined {
    enum symbol_construct kind; /* SYMBOL_PROCEDURE: not an outlined function */
    enum symbols_compiler compiler;
    bool uncertain; /* kind is a guess */
    bool inner;     /* the inner one of clang's two functions */
    bool task_part; /* clang: ".omp_outlined." without a host's name, a task's body when inlined into a task's
                       entry */
    size_t stem;    /* bytes of the name that are the host's linkage name; 0 none */
};
#define CLANG_MARK ".omp_outlined"
struct symbols_outlined symbols_construct_parse(const char *raw); /* [init] */
/* Fills kind, names, file and line of the frame of an outlined function. unit and function may be NULL.
 * [init] */
void symbols_construct_name(struct symbols_module *module, struct symbols_unit *unit,
                            struct symbols_function *function, const struct symbols_raw *raw,
                            struct symbol_frame *frame);
/* flang gives its outlined functions no line: the line of the construct by other evidence; 0: none. [init] */
int symbols_idents_line(struct symbols_module *module, struct symbols_unit *unit,
                        struct symbols_function *function, const char *host, int host_line);

/* ---- names ---- */

/* Bytes of a symbol's name before what the compiler appended to a copy or part of the function (.cold,
 * .isra.0, .constprop.1, .part.2, .llvm.123 ...). [init] */
size_t symbols_name_stem(const char *name);
/* The readable form of a linkage name, clone suffixes dropped, in the arena. [init] */
const char *symbols_name_readable(struct symbols_arena *arena, const char *name, size_t bytes);

#endif
