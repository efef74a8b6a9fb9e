/* From addresses to names, by libdw: functions, inlined functions, source lines, OpenMP constructs. Runs
 * after the measurement (at exit or in `blame report`); costs what was asked for, not what the binary
 * contains. */
#ifndef BLAME_REPORT_SYMBOLS_SYMBOLS_H
#define BLAME_REPORT_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cct/profile_format.h"

enum symbol_construct {
    SYMBOL_PROCEDURE = 0,
    SYMBOL_PARALLEL = 1, /* outlined body of a parallel construct (or what runs in one: for, sections ...) */
    SYMBOL_TASK = 2,     /* outlined body of a task */
};

/* One logical function at an address. All strings live as long as the struct symbols and are never NULL. */
struct symbol_frame {
    enum symbol_construct construct;
    bool inlined;          /* inlined into the next (outer) frame */
    const char *name;      /* demangled; for constructs already "relax [parallel amg.c:123]" */
    const char *host_name; /* constructs: demangled name of the function around the construct, else "" */
    const char *file;      /* where the function is defined, "" when unknown */
    int line;              /* the same, 0 when unknown; constructs: the construct's line */
    const char *at_file;   /* the source position of the address in this function ... */
    int at_line; /* ... for an outer frame of inlined ones: where the inlined call stands; 0 unknown */

    /* The inner function of a construct that clang compiles to two (-O0 -g: a real call): not a row of its
     * own when its caller's frame carries the same name. */
    bool fold_into_caller;
    /* GCC without call-site entries (-O0) and flang do not say whether the outlined body is a region's or a
     * task's: construct is then SYMBOL_PARALLEL, and task_name the name to use when the caller knows that it
     * ran as a task. */
    bool construct_uncertain;
    const char *task_name; /* "fib [task fib.c:17]" when construct_uncertain, else "" */
};

struct symbols;

/* modules: module id m is modules[m - 1]; borrowed, must outlive the result.                         [init]
 */
struct symbols *symbols_open(const struct profile_module *modules, size_t module_count);
void symbols_close(struct symbols *symbols); /* [init] */
/* The process with this number may be the one that was measured: its file may be gone, or be another build by now, but the
 * kernel still has the one that runs. [init] */
void symbols_still_runs(struct symbols *symbols, pid_t pid);

/* The logical frames at key (a PROFILE_KEY), innermost (deepest inlined) first, the function that is really
 * on the stack last. Returns their number, at least 1; *frames stays valid until symbols_close; results are
 * cached. Without debug information one frame with its symbol; without a symbol, name "module+0xoffset"; in
 * no module (JIT) or in a module without any name: "<unknown function>". [init] */
size_t symbols_lookup(struct symbols *symbols, uint64_t key, const struct symbol_frame **frames);

/* A call in a function, by machine code and DWARF's call sites. */
struct symbol_call {
    uint64_t key;     /* of its last byte: return address - 1, as for the frames of callers */
    uint64_t target;  /* entry (a key) of the function called, in the same module; 0: another module's, or
                         unknown */
    const char *name; /* of another module's function; "" when that is unknown too */
    uint64_t
        body; /* entry (a key) of the function that the OpenMP runtime is to execute; 0: none, or unknown */
    bool launches; /* a construct is handed to the OpenMP runtime that runs it at once */
    bool tail;     /* a jump: the function is left */
};

/* Entry (a key) of the function around key; 0 when its extent is not known by name. [init] */
uint64_t symbols_function_entry(struct symbols *symbols, uint64_t key);
/* The call at key (return address - 1); NULL: not known. [init] */
const struct symbol_call *symbols_call_at(struct symbols *symbols, uint64_t key);
/* All calls of the function with this entry, in no order. Valid until symbols_close, cached. [init] */
size_t symbols_calls(struct symbols *symbols, uint64_t entry, const struct symbol_call **calls);
/* Entry (a key) of the function that a module exports by this name; 0: none. [init] */
uint64_t symbols_function_named(struct symbols *symbols, uint32_t module_id, const char *name);
/* Entries (keys) of all functions of a module that compilers outlined from constructs. [init] */
size_t symbols_bodies(struct symbols *symbols, uint32_t module_id, const uint64_t **keys);

/* A function that a tail call took off the stack (report/symbols/tail_calls.h). */
struct tail_frame {
    uint64_t key;           /* as of a frame: inside the jump, or the function's entry; 0: ambiguous */
    bool at_jump;           /* the key tells the source line; else there are several jumps */
    const char *candidates; /* ambiguous: what may have been here, "a or b"; else NULL */
};
/* The frames missing between a caller's frame and the entry of the function that is next on the stack: true,
 * and what was found out before, or nothing as there is no file to search in. false: to be searched for; what
 * is asked up to symbols_gap_found() is asked for the search alone. [init] */
bool symbols_gap(struct symbols *symbols, uint64_t caller, uint64_t goal, const struct tail_frame **frames,
                 size_t *count);
void symbols_gap_found(struct symbols *symbols, uint64_t caller, uint64_t goal,
                       const struct tail_frame *frames, size_t count); /* copied. [init] */

/* Name of the data object that contains vaddr of a module, "symbol" or "symbol+offset"; NULL when there is
 * none. [init] */
const char *symbols_data(struct symbols *symbols, uint32_t module_id, uint64_t vaddr);

/* Base name of the module, e.g. "libomp.so.5"; "" for module 0.                                      [init]
 */
const char *symbols_module_name(struct symbols *symbols, uint32_t module_id);

/* Names outlive the binary: what was asked is kept in a file beside the measurement (its name with .symbols
 * for .blame), and what is there is used before a module's own file, unless that is of the same build and
 * knows more.
 *
 * Before anything is asked: takes what is kept with `measurement`. NULL, or one line why a file that is there
 * is of no use. [init] */
const char *symbols_recall(struct symbols *symbols, const struct profile_header *header,
                           const char *measurement);
bool symbols_have_news(const struct symbols *symbols); /* answers that are not kept yet. [init] */
/* Keeps what was asked. 0 or an errno value. [init] */
int symbols_keep(struct symbols *symbols, const struct profile_header *header, const char *measurement);
/* One line on modules whose files are not those measured any more, malloc'ed; NULL: there are none. [init] */
char *symbols_changes(struct symbols *symbols);

/* Demangled name (C++, Rust v0 excluded); returns a malloc'ed string, a copy of name if it is not mangled.
 * [init] */
char *symbols_demangle(const char *name);

#endif
